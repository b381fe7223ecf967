package io.sluice.engine.memory;

import io.sluice.engine.AtomicDomain;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.Signal;
import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import io.sluice.engine.progress.PollerLoop;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/**
 * A view of a counter in a region.
 *
 * @param region the region or slice that created it
 * @param offset the offset from there, in bytes
 * @param owner the whole region
 * @param at the offset from the whole region's start, in bytes
 */
record RegionSignal(MemoryRegion region, long offset, LocalRegion owner, long at) implements Signal {
    @Override
    public long value() {
        lease();
        try {
            return owner.words().get(at);
        } finally {
            owner.release();
        }
    }

    @Override
    public void set(long value) {
        change();
        try {
            owner.words().set(at, value);
        } finally {
            owner.release();
        }
    }

    @Override
    public long add(long addend) {
        change();
        try {
            return owner.words().fetchAdd(at, addend);
        } finally {
            owner.release();
        }
    }

    @Override
    public CompletableFuture<Long> awaitAtLeast(long value) {
        SignalWaits.Wait wait = new SignalWaits.Wait(value);
        owner.words().waits().enter(at, wait);
        if (wait.isDone()) {
            return wait;
        }
        if (!owner.acquire()) {
            wait.completeExceptionally(owner.closedError());
        } else {
            try {
                long seen = owner.words().get(at);
                if (wait.isSatisfiedBy(seen)) {
                    wait.complete(seen);
                }
            } catch (IllegalStateException e) {
                wait.completeExceptionally(new SluiceException("words of " + owner + " cannot be read", e));
            } finally {
                owner.release();
            }
            if (!wait.isDone()) {
                owner.words().awaited();
            }
        }
        return wait;
    }

    @Override
    public SignalWait onAtLeast(long value, EngineLoop loop, SignalCallback callback) {
        Objects.requireNonNull(callback, "callback");
        if (!(loop instanceof PollerLoop poller)) {
            throw new IllegalArgumentException("not a loop of a Sluice engine: " + loop);
        }
        LoopWait wait = new LoopWait(owner, at, poller::handOver, callback);
        owner.words().waits().add(at, wait);
        wait.arm(value);
        return wait;
    }

    private void lease() {
        if (!owner.acquire()) {
            throw owner.closedError();
        }
    }

    private void change() {
        if (owner.atomicDomain() != AtomicDomain.TARGET_CPU) {
            throw new IllegalStateException("only the region's network adapter may change its words");
        }
        lease();
    }
}
