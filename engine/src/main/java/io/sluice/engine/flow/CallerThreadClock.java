package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics.Operation;
import org.jspecify.annotations.Nullable;

/**
 * Times what one thread carries out itself. To look at the clock twice costs as much as a small copy: so of the small ones it
 * times every 16th, and takes the others to have lasted as long as the last that it timed.
 */
@SuppressWarnings("ReferenceEquality") // counters are their own identity
final class CallerThreadClock {
    /** What moves more is always timed. */
    static final long SMALL_BYTES = 16 * 1024;

    /** How many small ones there are to one that is timed. */
    static final int SMALL_ONES = 16;

    // so that a thread's first is timed
    private int untimed = SMALL_ONES - 1;
    private boolean timing;
    private long startedAt;
    private long smallNanos;
    private int smallBucket;

    // times that are not in the sum yet, so that a small one costs no add more
    private @Nullable CallerThreadCounters owed;
    private Operation owedOperation = Operation.WRITE;
    private long owedNanos;
    private int unpaid = SMALL_ONES - 1;

    /** One begins. */
    void begins(long bytes) {
        timing = bytes > SMALL_BYTES || ++untimed >= SMALL_ONES;
        if (timing) {
            startedAt = System.nanoTime();
        }
    }

    /** The one that began last is done; says how long it took. */
    long ends(long bytes) {
        if (!timing) {
            return smallNanos;
        }
        long nanos = Math.max(0, System.nanoTime() - startedAt);
        if (bytes <= SMALL_BYTES) {
            untimed = 0;
            smallNanos = nanos;
            smallBucket = LatencyBuckets.indexOf(nanos);
        }
        return nanos;
    }

    /** Counts one that is done. */
    void count(CallerThreadCounters counters, Operation operation, long count, long bytes, long nanos) {
        counters.count(operation, nanos == smallNanos ? smallBucket : LatencyBuckets.indexOf(nanos), count, bytes);
        if (owed != counters || owedOperation != operation) {
            payOwed();
            owed = counters;
            owedOperation = operation;
        }
        owedNanos += nanos * count;
        if (++unpaid >= SMALL_ONES || bytes > SMALL_BYTES) {
            unpaid = 0;
            payOwed();
        }
    }

    private void payOwed() {
        CallerThreadCounters to = owed;
        if (to != null && owedNanos != 0) {
            to.addNanos(owedOperation, owedNanos);
        }
        owedNanos = 0;
    }
}
