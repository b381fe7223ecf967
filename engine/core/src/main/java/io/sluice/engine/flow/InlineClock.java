package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics.Operation;
import org.jspecify.annotations.Nullable;

/**
 * Times the transfers that a thread executes itself. Reading the clock twice costs as much as a small copy, so it times
 * only every 16th small transfer to each peer in each direction, and counts the others with the last measured time.
 */
@SuppressWarnings("ReferenceEquality") // counters are their own identity
final class InlineClock {
    /** Larger transfers are always timed. */
    static final long SMALL_BYTES = 64 * 1024;

    /** One of this many small transfers is timed. */
    static final int SMALL_ONES = 16;

    // a power of two; of counters that share a place, one has it at a time
    private static final int PLACES = 16;

    // there are many virtual threads and each does little, so that what one owes at its end would be much in sum
    private final int mostUnpaid = Thread.currentThread().isVirtual() ? 1 : SMALL_ONES;
    private final Sample[] samples = new Sample[PLACES];
    private Sample current;
    private boolean timing;
    private long startedAt;

    InlineClock() {
        for (int i = 0; i < PLACES; i++) {
            samples[i] = new Sample();
        }
        current = samples[0];
    }

    /** The last small one that was timed, and times that are not in the sum yet, so that a small one costs no add more. */
    private static final class Sample {
        private @Nullable InlineCounters counters;
        private Operation operation = Operation.WRITE;
        private int untimed;
        private long smallNanos;
        private long owedNanos;
        private int unpaid;

        boolean isOf(InlineCounters which, Operation what) {
            return counters == which && operation == what;
        }

        void begin(InlineCounters which, Operation what, int mostUnpaid) {
            pay();
            counters = which;
            operation = what;
            // the first is timed, and paid at once
            untimed = SMALL_ONES - 1;
            smallNanos = 0;
            unpaid = mostUnpaid - 1;
        }

        void pay() {
            InlineCounters to = counters;
            if (to != null && owedNanos != 0) {
                to.addNanos(operation, owedNanos);
            }
            owedNanos = 0;
            unpaid = 0;
        }
    }

    private Sample at(InlineCounters counters, Operation operation) {
        return samples[counters.place(operation) & (PLACES - 1)];
    }

    /** One begins. */
    void begins(InlineCounters counters, Operation operation, long bytes) {
        Sample sample = at(counters, operation);
        if (!sample.isOf(counters, operation)) {
            sample.begin(counters, operation, mostUnpaid);
        }
        current = sample;
        timing = bytes > SMALL_BYTES || ++sample.untimed >= SMALL_ONES;
        if (timing) {
            startedAt = System.nanoTime();
        }
    }

    /**
     * The last started transfer is done.
     *
     * @return how long it took in nanoseconds; a negative value is the complement of an estimate
     */
    long ends(long bytes) {
        if (!timing) {
            return ~current.smallNanos;
        }
        long nanos = Math.max(0, System.nanoTime() - startedAt);
        if (bytes <= SMALL_BYTES) {
            current.untimed = 0;
            current.smallNanos = nanos;
        }
        return nanos;
    }

    /** Counts one that is done, which took as long as {@link #ends} said. */
    void count(InlineCounters counters, Operation operation, long count, long bytes, long measured) {
        long nanos = measured < 0 ? ~measured : measured;
        counters.count(operation, LatencyBuckets.indexOf(nanos), count, bytes);
        Sample sample = at(counters, operation);
        if (!sample.isOf(counters, operation)) {
            counters.addNanos(operation, nanos * count);
            return;
        }
        sample.owedNanos += nanos * count;
        if (++sample.unpaid >= mostUnpaid || bytes > SMALL_BYTES) {
            sample.pay();
        }
    }
}
