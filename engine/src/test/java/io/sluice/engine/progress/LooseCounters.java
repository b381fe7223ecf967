package io.sluice.engine.progress;

/** Counters without a poller. */
public final class LooseCounters {
    private LooseCounters() {}

    /**
     * Makes some.
     *
     * @param indexed how many indexed ones
     * @return counters for one thread at a time to write
     */
    public static PollerCounters of(int indexed) {
        return new PollerCounters(indexed);
    }
}
