package io.sluice.engine.session;

import io.sluice.engine.AtomicDomain;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.Signal;
import java.util.concurrent.CompletableFuture;

/**
 * A view of a counter in a region.
 *
 * @param region the region or slice it was asked of
 * @param offset from there, in bytes
 * @param words the whole region's words
 * @param at from the whole region's start, in bytes
 */
record RegionSignal(MemoryRegion region, long offset, LocalRegion words, long at) implements Signal {
    @Override
    public long value() {
        lease();
        try {
            return words.words().get(at);
        } finally {
            words.release();
        }
    }

    @Override
    public void set(long value) {
        change();
        try {
            words.words().set(at, value);
        } finally {
            words.release();
        }
    }

    @Override
    public long add(long addend) {
        change();
        try {
            return words.words().fetchAdd(at, addend);
        } finally {
            words.release();
        }
    }

    @Override
    public CompletableFuture<Long> awaitAtLeast(long value) {
        SignalWaits.Wait wait = new SignalWaits.Wait(value);
        words.words().waits().enter(at, wait);
        if (!wait.isDone() && words.acquire()) {
            try {
                long seen = words.words().get(at);
                if (wait.isSatisfiedBy(seen)) {
                    wait.complete(seen);
                }
            } finally {
                words.release();
            }
        }
        return wait;
    }

    private void lease() {
        if (!words.acquire()) {
            throw new RegionClosedException("the region is closed, or its memory was freed");
        }
    }

    private void change() {
        if (words.atomicDomain() != AtomicDomain.TARGET_CPU) {
            throw new IllegalStateException("the region's words are changed by its network adapter alone");
        }
        lease();
    }
}
