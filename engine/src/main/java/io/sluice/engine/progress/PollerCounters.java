package io.sluice.engine.progress;

import java.util.concurrent.atomic.AtomicLongArray;

/** Counters that one poller writes and any thread reads: an add costs no atomic instruction. */
public final class PollerCounters {
    /** What is counted. */
    public enum Counter {
        /** Duty cycles that found work. */
        BUSY_POLLS,
        /** Duty cycles that found none. */
        EMPTY_POLLS,
        /** Duty cycles that took too long. */
        STALLS,
        /** Bytes that peers wrote here. */
        SERVED_WRITE_BYTES,
        /** Bytes that peers read here. */
        SERVED_READ_BYTES,
        /** Requests of peers that were refused. */
        REFUSED,
        /** Connections lost. */
        CONNECTIONS_LOST
    }

    private static final int NAMED = Counter.values().length;
    private final AtomicLongArray values;

    /**
     * All zero.
     *
     * @param indexed how many further counters there are
     */
    PollerCounters(int indexed) {
        values = new AtomicLongArray(NAMED + indexed);
    }

    /**
     * Adds. On the poller's thread.
     *
     * @param counter which
     * @param delta how much
     */
    public void add(Counter counter, long delta) {
        int index = counter.ordinal();
        values.setOpaque(index, values.getPlain(index) + delta);
    }

    /**
     * Adds to an indexed counter. On the poller's thread.
     *
     * @param indexed which
     * @param delta how much
     */
    public void add(int indexed, long delta) {
        int index = NAMED + indexed;
        values.setOpaque(index, values.getPlain(index) + delta);
    }

    /**
     * Reads. On any thread.
     *
     * @param counter which
     * @return the value
     */
    public long get(Counter counter) {
        return values.getOpaque(counter.ordinal());
    }

    /**
     * Reads an indexed counter. On any thread.
     *
     * @param indexed which
     * @return the value
     */
    public long get(int indexed) {
        return values.getOpaque(NAMED + indexed);
    }
}
