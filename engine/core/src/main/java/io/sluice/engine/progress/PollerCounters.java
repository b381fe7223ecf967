package io.sluice.engine.progress;

import java.util.concurrent.atomic.AtomicLongArray;

/** Counters that one poller writes and any thread reads, so an addition costs no atomic instruction. */
public final class PollerCounters {
    /** The counters. */
    public enum Counter {
        /** Duty cycles that found work. */
        BUSY_POLLS,
        /** Duty cycles that found none. */
        EMPTY_POLLS,
        /** The time of duty cycles with work, in nanoseconds. */
        BUSY_NANOS,
        /** Duty cycles that took too long. */
        STALLS
    }

    private final AtomicLongArray values = new AtomicLongArray(Counter.values().length);

    /** All zero. */
    PollerCounters() {}

    /**
     * Adds. On the poller's thread.
     *
     * @param counter which
     * @param delta how much
     */
    void add(Counter counter, long delta) {
        int index = counter.ordinal();
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
}
