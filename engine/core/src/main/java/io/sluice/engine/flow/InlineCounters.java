package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics.Operation;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * The transfers that callers have executed in their own threads, over the connections of one transport to one peer.
 * They wait for nothing, so the duration is their whole time. Thread-safe.
 */
public final class InlineCounters {
    private static final AtomicInteger PLACES = new AtomicInteger();

    private final int place = PLACES.getAndAdd(2);
    private final Direction writes = new Direction();
    private final Direction reads = new Direction();

    /** Creates counters that are all zero. */
    public InlineCounters() {}

    private static final class Direction {
        private final LongAdder[] buckets = new LongAdder[LatencyBuckets.COUNT];
        private final LongAdder bytes = new LongAdder();
        private final LongAdder nanos = new LongAdder();
        private final LongAdder cancelled = new LongAdder();
        private final LongAdder cancelledBytes = new LongAdder();

        Direction() {
            for (int i = 0; i < buckets.length; i++) {
                buckets[i] = new LongAdder();
            }
        }

        long operations() {
            long count = 0;
            for (LongAdder bucket : buckets) {
                count += bucket.sum();
            }
            return count;
        }

        void add(Direction other) {
            for (int i = 0; i < buckets.length; i++) {
                buckets[i].add(other.buckets[i].sum());
            }
            bytes.add(other.bytes.sum());
            nanos.add(other.nanos.sum());
            cancelled.add(other.cancelled.sum());
            cancelledBytes.add(other.cancelledBytes.sum());
        }
    }

    private Direction of(Operation operation) {
        return operation == Operation.READ ? reads : writes;
    }

    /**
     * Returns a number for the samples of an operation that nearly always differs from others' and has few bits when
     * folded.
     */
    int place(Operation operation) {
        return place + (operation == Operation.READ ? 1 : 0);
    }

    private static boolean has(Operation operation) {
        return operation == Operation.READ || operation == Operation.WRITE;
    }

    void count(Operation operation, int bucket, long count, long moved) {
        Direction direction = of(operation);
        direction.buckets[bucket].add(count);
        direction.bytes.add(moved);
    }

    void addNanos(Operation operation, long nanos) {
        of(operation).nanos.add(nanos);
    }

    void countCancelled(Operation operation, long count, long moved) {
        Direction direction = of(operation);
        direction.cancelled.add(count);
        direction.cancelledBytes.add(moved);
    }

    /**
     * Adds the counts of others, which count no more.
     *
     * @param others other counters
     */
    public void add(InlineCounters others) {
        writes.add(others.writes);
        reads.add(others.reads);
    }

    /**
     * Returns how many were cancelled after all their bytes had been moved but before their signal was given.
     *
     * @param operation the kind of operation
     * @return the count
     */
    public long cancelled(Operation operation) {
        return has(operation) ? of(operation).cancelled.sum() : 0;
    }

    /**
     * Returns how many bytes those have moved.
     *
     * @param operation the kind of operation
     * @return bytes
     */
    public long cancelledBytes(Operation operation) {
        return has(operation) ? of(operation).cancelledBytes.sum() : 0;
    }

    /**
     * Returns how many have succeeded.
     *
     * @param operation the kind of operation
     * @return the count
     */
    public long operations(Operation operation) {
        return has(operation) ? of(operation).operations() : 0;
    }

    /**
     * Returns how many bytes those have moved.
     *
     * @param operation the kind of operation
     * @return bytes
     */
    public long bytes(Operation operation) {
        return has(operation) ? of(operation).bytes.sum() : 0;
    }

    /**
     * Returns how long those took.
     *
     * @param operation the kind of operation
     * @return the sum in nanoseconds
     */
    public long nanos(Operation operation) {
        return has(operation) ? of(operation).nanos.sum() : 0;
    }

    /**
     * Adds the buckets to those of a histogram.
     *
     * @param operation the kind of operation
     * @param kind the kind of time
     * @param counts a count for each bucket
     * @return the sum of the times, nanoseconds
     */
    public long addTo(Operation operation, LatencyKind kind, long[] counts) {
        if (!has(operation)) {
            return 0;
        }
        if (kind == LatencyKind.CREDIT_WAIT) {
            counts[0] += operations(operation);
            return 0;
        }
        LongAdder[] buckets = of(operation).buckets;
        for (int i = 0; i < buckets.length; i++) {
            counts[i] += buckets[i].sum();
        }
        return nanos(operation);
    }
}
