package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineMetrics.Outcome;
import io.sluice.engine.ErrorKind;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferTimeoutException;
import io.sluice.engine.transport.WireCounter;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The counters of the connections of one transport on one poller. Only the poller adds, so an addition costs no atomic
 * instruction; any thread reads.
 */
public final class FlowCounters {
    private static final int OUTCOMES = Outcome.values().length;
    private static final int KINDS = LatencyKind.values().length;

    // of each operation: how many have ended (but those with success, which the buckets count), their bytes, the
    // buckets, the sums
    private static final int BYTES_AT = OUTCOMES;
    private static final int BUCKETS_AT = BYTES_AT + OUTCOMES;
    private static final int WAIT_SUM_AT = BUCKETS_AT + KINDS * LatencyBuckets.COUNT;
    private static final int COMPLETION_SUM_AT = WAIT_SUM_AT + 1;
    private static final int OPERATION_STRIDE = COMPLETION_SUM_AT + 1;

    private static final int ERRORS_AT = Operation.values().length * OPERATION_STRIDE;
    private static final int COUNTERS_AT = ERRORS_AT + ErrorKind.values().length;
    private static final int WIRE_AT = COUNTERS_AT + FlowCounter.values().length;
    private static final int LENGTH = WIRE_AT + WireCounter.values().length;

    private static final VarHandle VALUE = MethodHandles.arrayElementVarHandle(long[].class);

    private final long[] values = new long[LENGTH];

    /** All zero. */
    public FlowCounters() {}

    // ---- the poller ----

    private void add(int index, long delta) {
        VALUE.setOpaque(values, index, values[index] + delta);
    }

    /**
     * Adds. On the poller's thread.
     *
     * @param counter which
     * @param delta how much
     */
    public void add(FlowCounter counter, long delta) {
        add(COUNTERS_AT + counter.ordinal(), delta);
    }

    /**
     * Adds. On the poller's thread.
     *
     * @param counter which
     * @param delta how much
     */
    public void add(WireCounter counter, long delta) {
        add(WIRE_AT + counter.ordinal(), delta);
    }

    /** Counts a successful operation; its duration is the sum of the two times. */
    void succeeded(Operation operation, long bytes, long waitNanos, long completionNanos) {
        int at = operation.ordinal() * OPERATION_STRIDE;
        int buckets = at + BUCKETS_AT;
        add(buckets + LatencyBuckets.indexOf(waitNanos + completionNanos), 1);
        add(buckets + LatencyBuckets.COUNT + LatencyBuckets.indexOf(waitNanos), 1);
        add(buckets + 2 * LatencyBuckets.COUNT + LatencyBuckets.indexOf(completionNanos), 1);
        add(at + WAIT_SUM_AT, waitNanos);
        add(at + COMPLETION_SUM_AT, completionNanos);
        add(at + BYTES_AT + Outcome.SUCCESS.ordinal(), bytes);
    }

    /** Counts an operation that did not succeed. */
    Outcome failed(Operation operation, SluiceException error, long bytes) {
        Outcome outcome = switch (error) {
            case TransferTimeoutException timeout -> Outcome.TIMEOUT;
            case TransferCancelledException cancelled -> Outcome.CANCELLED;
            default -> Outcome.ERROR;
        };
        int at = operation.ordinal() * OPERATION_STRIDE;
        add(at + outcome.ordinal(), 1);
        add(at + BYTES_AT + outcome.ordinal(), bytes);
        if (outcome != Outcome.CANCELLED) {
            add(ERRORS_AT + ErrorKind.of(error).ordinal(), 1);
        }
        return outcome;
    }

    // ---- any thread ----

    private long get(int index) {
        return (long) VALUE.getOpaque(values, index);
    }

    /**
     * Reads.
     *
     * @param counter which
     * @return the value
     */
    public long get(FlowCounter counter) {
        return get(COUNTERS_AT + counter.ordinal());
    }

    /**
     * Reads.
     *
     * @param counter which
     * @return the value
     */
    public long get(WireCounter counter) {
        return get(WIRE_AT + counter.ordinal());
    }

    /**
     * How many operations have ended.
     *
     * @param operation which
     * @param outcome how
     * @return the count; of those with success as many as each of their histograms has
     */
    public long operations(Operation operation, Outcome outcome) {
        int at = operation.ordinal() * OPERATION_STRIDE;
        if (outcome != Outcome.SUCCESS) {
            return get(at + outcome.ordinal());
        }
        long count = 0;
        for (int i = 0; i < LatencyBuckets.COUNT; i++) {
            count += get(at + BUCKETS_AT + i);
        }
        return count;
    }

    /**
     * The bytes of the operations that have ended.
     *
     * @param operation which
     * @param outcome how
     * @return bytes
     */
    public long bytes(Operation operation, Outcome outcome) {
        return get(operation.ordinal() * OPERATION_STRIDE + BYTES_AT + outcome.ordinal());
    }

    /**
     * How many operations have ended with an error or by their deadline.
     *
     * @param kind of error
     * @return the count
     */
    public long errors(ErrorKind kind) {
        return get(ERRORS_AT + kind.ordinal());
    }

    /**
     * Adds buckets to those of a histogram that is being put together.
     *
     * @param operation which
     * @param kind of time
     * @param counts one for each bucket
     * @return the sum of the times, nanoseconds
     */
    public long addTo(Operation operation, LatencyKind kind, long[] counts) {
        int at = operation.ordinal() * OPERATION_STRIDE;
        int buckets = at + BUCKETS_AT + kind.ordinal() * LatencyBuckets.COUNT;
        for (int i = 0; i < LatencyBuckets.COUNT; i++) {
            counts[i] += get(buckets + i);
        }
        long waited = get(at + WAIT_SUM_AT);
        long completed = get(at + COMPLETION_SUM_AT);
        return switch (kind) {
            case DURATION -> waited + completed;
            case CREDIT_WAIT -> waited;
            case COMPLETION -> completed;
        };
    }
}
