package io.sluice.engine.transport;

/** Something that happens at a time, armed on an {@link EventLoop}. It is its own node in the loop's queue. */
public abstract class Deadline {
    /** The place in the loop's queue of one that is not armed. */
    public static final int NOT_ARMED = -1;

    private long at;
    private int place = NOT_ARMED;

    /** Creates a deadline that is not armed. */
    protected Deadline() {}

    /** The time has come. Called on the loop's thread; the deadline is not armed any more and may be armed again. */
    protected abstract void expired();

    /** For the loop's queue: calls {@link #expired()}. */
    public final void expire() {
        expired();
    }

    /**
     * For the loop's queue: when.
     *
     * @return as {@link System#nanoTime()}
     */
    public final long at() {
        return at;
    }

    /**
     * For the loop's queue: where it stands.
     *
     * @return the index, or {@link #NOT_ARMED}
     */
    public final int place() {
        return place;
    }

    /**
     * For the loop's queue.
     *
     * @param time when
     * @param index where it stands, or {@link #NOT_ARMED}
     */
    public final void placed(long time, int index) {
        at = time;
        place = index;
    }
}
