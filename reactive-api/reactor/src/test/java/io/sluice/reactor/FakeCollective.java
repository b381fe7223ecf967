package io.sluice.reactor;

import io.sluice.collectives.Algorithm;
import io.sluice.collectives.Collective;
import io.sluice.collectives.CollectiveCallback;
import io.sluice.collectives.CollectiveKind;
import io.sluice.engine.SluiceException;

/** A collective without ranks, which ends when the test says so. */
final class FakeCollective implements Collective {
    private final CollectiveCallback callback;
    private final long total;
    private volatile long processed;
    private volatile boolean terminated;

    FakeCollective(CollectiveCallback callback, long total) {
        this.callback = callback;
        this.total = total;
    }

    void process(long bytes) {
        processed = bytes;
    }

    void succeed() {
        processed = total;
        terminated = true;
        callback.ended(this, null);
    }

    void fail(SluiceException error) {
        terminated = true;
        callback.ended(this, error);
    }

    @Override
    public CollectiveKind kind() {
        return CollectiveKind.BARRIER;
    }

    @Override
    public Algorithm algorithm() {
        return Algorithm.DISSEMINATION;
    }

    @Override
    public boolean isTerminated() {
        return terminated;
    }

    @Override
    public long totalBytes() {
        return total;
    }

    @Override
    public long processedBytes() {
        return processed;
    }
}
