package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineMetrics.Outcome;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.engine.progress.PollerCounters;
import org.jspecify.annotations.Nullable;

/** Where the operations stand among a poller's indexed counters. */
public final class FlowCounters {
    private static final int OUTCOMES = Outcome.values().length;
    private static final int BYTES_FROM = Operation.values().length * OUTCOMES;

    /** How many indexed counters a poller needs. */
    public static final int COUNT = BYTES_FROM + Operation.values().length;

    private FlowCounters() {}

    /**
     * The counter of ended operations.
     *
     * @param operation which
     * @param outcome how it ended
     * @return the index
     */
    public static int operations(Operation operation, Outcome outcome) {
        return operation.ordinal() * OUTCOMES + outcome.ordinal();
    }

    /**
     * The counter of bytes moved.
     *
     * @param operation which
     * @return the index
     */
    public static int bytes(Operation operation) {
        return BYTES_FROM + operation.ordinal();
    }

    static void count(PollerCounters counters, Operation operation, @Nullable SluiceException error, long bytes) {
        counters.add(operations(operation, outcome(error)), 1);
        if (error == null) {
            counters.add(bytes(operation), bytes);
        }
    }

    private static Outcome outcome(@Nullable SluiceException error) {
        if (error == null) {
            return Outcome.SUCCESS;
        }
        return switch (error) {
            case TransferTimeoutException timeout -> Outcome.TIMEOUT;
            case TransferCancelledException cancelled -> Outcome.CANCELLED;
            default -> Outcome.ERROR;
        };
    }
}
