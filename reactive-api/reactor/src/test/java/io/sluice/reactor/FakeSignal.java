package io.sluice.reactor;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.Signal;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A counter that never changes: each wait is handed to the test, which decides when and how it ends. */
final class FakeSignal implements Signal {
    final Queue<CompletableFuture<Long>> waits = new ConcurrentLinkedQueue<>();
    private final MemoryRegion region;
    private final long offset;

    FakeSignal(MemoryRegion region, long offset) {
        this.region = region;
        this.offset = offset;
    }

    @Override
    public MemoryRegion region() {
        return region;
    }

    @Override
    public long offset() {
        return offset;
    }

    @Override
    public long value() {
        return 0;
    }

    @Override
    public void set(long value) {
        throw new UnsupportedOperationException();
    }

    @Override
    public long add(long addend) {
        throw new UnsupportedOperationException();
    }

    @Override
    public CompletableFuture<Long> awaitAtLeast(long value) {
        CompletableFuture<Long> wait = new CompletableFuture<>();
        waits.add(wait);
        return wait;
    }
}
