package io.sluice.collectives;

import io.sluice.engine.LatencyHistogram;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** The counters of one kind and algorithm; the loop writes. */
final class CollectiveFigures implements CollectiveMetrics {
    private static final VarHandle WORDS = MethodHandles.arrayElementVarHandle(long[].class);
    private static final long[] BOUNDS = LatencyHistogram.boundsNanos();

    private static final int SUCCEEDED = 0;
    private static final int FAILED = 1;
    private static final int BYTES = 2;
    private static final int BUS_BYTES = 3;
    private static final int WAITING = 4;
    private static final int QUEUED = 5;
    private static final int MOVING = 6;
    private static final int DURATION = 7;
    private static final int BUCKETS = 8;

    private final CollectiveKind kind;
    private final Algorithm algorithm;
    private final long[] words = new long[BUCKETS + BOUNDS.length + 1];

    CollectiveFigures(CollectiveKind kind, Algorithm algorithm) {
        this.kind = kind;
        this.algorithm = algorithm;
    }

    private void add(int word, long more) {
        WORDS.setOpaque(words, word, words[word] + more);
    }

    private long get(int word) {
        return (long) WORDS.getOpaque(words, word);
    }

    void countSuccess(long bytes, long busBytes, long nanos) {
        add(SUCCEEDED, 1);
        add(BYTES, bytes);
        add(BUS_BYTES, busBytes);
        add(DURATION, nanos);
        int bucket = 0;
        while (bucket < BOUNDS.length && nanos > BOUNDS[bucket]) {
            bucket++;
        }
        add(BUCKETS + bucket, 1);
    }

    void countFailure() {
        add(FAILED, 1);
    }

    void countTimes(long queued, long waiting, long moving) {
        add(QUEUED, queued);
        add(WAITING, waiting);
        add(MOVING, moving);
    }

    @Override
    public CollectiveKind kind() {
        return kind;
    }

    @Override
    public Algorithm algorithm() {
        return algorithm;
    }

    @Override
    public long succeeded() {
        return get(SUCCEEDED);
    }

    @Override
    public long failed() {
        return get(FAILED);
    }

    @Override
    public long bytes() {
        return get(BYTES);
    }

    @Override
    public long busBytes() {
        return get(BUS_BYTES);
    }

    @Override
    public LatencyHistogram duration() {
        long sum = get(DURATION);
        long[] counts = new long[BOUNDS.length + 1];
        for (int i = 0; i < counts.length; i++) {
            counts[i] = get(BUCKETS + i);
        }
        return new LatencyHistogram(counts, sum);
    }

    @Override
    public long waitingNanos() {
        return get(WAITING);
    }

    @Override
    public long queuedNanos() {
        return get(QUEUED);
    }

    @Override
    public long movingNanos() {
        return get(MOVING);
    }
}
