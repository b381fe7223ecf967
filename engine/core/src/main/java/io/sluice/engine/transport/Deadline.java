package io.sluice.engine.transport;

/** A timer that is armed on an {@link EventLoop}. It is its own node in the loop's queue. */
public abstract class Deadline {
    /** The position of a deadline that is not armed. */
    public static final int NOT_ARMED = -1;

    private long at;
    private int place = NOT_ARMED;

    /** Creates a deadline that is not armed. */
    protected Deadline() {}

    /** Called on the loop's thread when the time has come. The deadline is no longer armed and may be armed again. */
    protected abstract void expired();

    /** For the loop's queue: calls {@link #expired()}. */
    public final void expire() {
        expired();
    }

    /**
     * For the loop's queue: returns the time.
     *
     * @return as {@link System#nanoTime()}
     */
    public final long at() {
        return at;
    }

    /**
     * For the loop's queue: returns the position.
     *
     * @return the index, or {@link #NOT_ARMED}
     */
    public final int place() {
        return place;
    }

    /**
     * For the loop's queue: sets time and position.
     *
     * @param time as {@link System#nanoTime()}
     * @param index the position, or {@link #NOT_ARMED}
     */
    public final void placed(long time, int index) {
        at = time;
        place = index;
    }
}
