package io.sluice.reactor;

import io.sluice.engine.EngineLoop;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.Signal;
import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/** A counter that never changes: each wait is handed to the test, which decides when and how it ends. */
final class FakeSignal implements Signal {
    final Queue<CompletableFuture<Long>> waits = new ConcurrentLinkedQueue<>();
    final Queue<Long> leasts = new ConcurrentLinkedQueue<>();
    private final MemoryRegion region;
    private final long offset;
    private final Consumer<CompletableFuture<Long>> onWait;

    FakeSignal(MemoryRegion region, long offset) {
        this.region = region;
        this.offset = offset;
        this.onWait = waits::add;
    }

    /** Keeps no list of its waits, so that no subscriber is held. */
    FakeSignal(MemoryRegion region, long offset, Consumer<CompletableFuture<Long>> onWait) {
        this.region = region;
        this.offset = offset;
        this.onWait = onWait;
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
        leasts.add(value);
        onWait.accept(wait);
        return wait;
    }

    @Override
    public SignalWait onAtLeast(long value, EngineLoop loop, SignalCallback callback) {
        throw new UnsupportedOperationException();
    }
}
