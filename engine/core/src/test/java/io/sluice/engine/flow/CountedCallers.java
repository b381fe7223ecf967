package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics.Operation;

/** Counts for tests elsewhere what a caller's thread would have carried out. */
public final class CountedCallers {
    private CountedCallers() {}

    /**
     * Counts writes of a microsecond each.
     *
     * @param into the counters
     * @param count how many
     * @param bytes of all
     */
    public static void writes(InlineCounters into, long count, long bytes) {
        into.count(Operation.WRITE, 0, count, bytes);
        into.addNanos(Operation.WRITE, 1000 * count);
    }
}
