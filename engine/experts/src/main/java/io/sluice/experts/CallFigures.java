package io.sluice.experts;

import io.sluice.engine.LatencyHistogram;

/** The counters of one kind of call; the loop writes. */
final class CallFigures implements ExpertCallMetrics {
    private static final long[] BOUNDS = LatencyHistogram.boundsNanos();

    private static final int SUCCEEDED = 0;
    private static final int FAILED = 1;
    private static final int TOKENS_SENT = 2;
    private static final int TOKENS_RECEIVED = 3;
    private static final int BYTES_SENT = 4;
    private static final int BYTES_RECEIVED = 5;
    private static final int QUEUED = 6;
    private static final int MOVING = 7;
    private static final int WAITING = 8;
    private static final int DURATION = 9;
    private static final int BUCKETS = 10;

    private final ExpertCallKind kind;
    private final Counters counters = new Counters(BUCKETS + BOUNDS.length + 1);

    CallFigures(ExpertCallKind kind) {
        this.kind = kind;
    }

    /** Counts what a call has moved, where all tokens have the same length. */
    void countTokens(long sent, long received, long bytesOfToken) {
        countTokens(sent, received, sent * bytesOfToken, received * bytesOfToken);
    }

    /** Counts what a call has moved. */
    void countTokens(long sent, long received, long bytesSent, long bytesReceived) {
        counters.add(TOKENS_SENT, sent);
        counters.add(TOKENS_RECEIVED, received);
        counters.add(BYTES_SENT, bytesSent);
        counters.add(BYTES_RECEIVED, bytesReceived);
    }

    void countSuccess(long nanos) {
        counters.add(SUCCEEDED, 1);
        counters.add(DURATION, nanos);
        int bucket = 0;
        while (bucket < BOUNDS.length && nanos > BOUNDS[bucket]) {
            bucket++;
        }
        counters.add(BUCKETS + bucket, 1);
    }

    void countFailure() {
        counters.add(FAILED, 1);
    }

    void countTimes(long queued, long moving, long waiting) {
        counters.add(QUEUED, queued);
        counters.add(MOVING, moving);
        counters.add(WAITING, waiting);
    }

    @Override
    public ExpertCallKind kind() {
        return kind;
    }

    @Override
    public long succeeded() {
        return counters.get(SUCCEEDED);
    }

    @Override
    public long failed() {
        return counters.get(FAILED);
    }

    @Override
    public long tokensSent() {
        return counters.get(TOKENS_SENT);
    }

    @Override
    public long tokensReceived() {
        return counters.get(TOKENS_RECEIVED);
    }

    @Override
    public long bytesSent() {
        return counters.get(BYTES_SENT);
    }

    @Override
    public long bytesReceived() {
        return counters.get(BYTES_RECEIVED);
    }

    @Override
    public LatencyHistogram duration() {
        long sum = counters.get(DURATION);
        long[] counts = new long[BOUNDS.length + 1];
        for (int i = 0; i < counts.length; i++) {
            counts[i] = counters.get(BUCKETS + i);
        }
        return new LatencyHistogram(counts, sum);
    }

    @Override
    public long queuedNanos() {
        return counters.get(QUEUED);
    }

    @Override
    public long movingNanos() {
        return counters.get(MOVING);
    }

    @Override
    public long waitingNanos() {
        return counters.get(WAITING);
    }
}
