package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics.Operation;
import java.util.concurrent.atomic.LongAdder;

/** What an engine's callers have carried out in their own threads. Any thread. */
public final class CallerThreadCounters {
    private final LongAdder[] operations = adders();
    private final LongAdder[] cancelled = adders();
    private final LongAdder[] bytes = adders();

    /** All zero. */
    public CallerThreadCounters() {}

    private static LongAdder[] adders() {
        LongAdder[] made = new LongAdder[Operation.values().length];
        for (int i = 0; i < made.length; i++) {
            made[i] = new LongAdder();
        }
        return made;
    }

    void count(Operation operation, long count, long moved) {
        operations[operation.ordinal()].add(count);
        bytes[operation.ordinal()].add(moved);
    }

    void countCancelled(Operation operation, long count) {
        cancelled[operation.ordinal()].add(count);
    }

    /**
     * How many have been cancelled when all their bytes had been moved, but their signal had not been given.
     *
     * @param operation of which kind
     * @return the count
     */
    public long cancelled(Operation operation) {
        return cancelled[operation.ordinal()].sum();
    }

    /**
     * How many have succeeded.
     *
     * @param operation of which kind
     * @return the count
     */
    public long operations(Operation operation) {
        return operations[operation.ordinal()].sum();
    }

    /**
     * What they have moved.
     *
     * @param operation of which kind
     * @return bytes
     */
    public long bytes(Operation operation) {
        return bytes[operation.ordinal()].sum();
    }
}
