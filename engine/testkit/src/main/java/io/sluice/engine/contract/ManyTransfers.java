package io.sluice.engine.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.FetchCallback;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferCallback;
import io.sluice.testkit.Patience;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Very many transfers, a bounded number of them at a time. Its methods may be called from any thread. */
final class ManyTransfers {
    private static final int MOST_AT_A_TIME = 5_000;

    private final Semaphore room = new Semaphore(MOST_AT_A_TIME);
    private final AtomicInteger submitted = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();
    private final AtomicReference<SluiceException> failure = new AtomicReference<>();

    /** Waits for room; the callback of one more transfer. */
    TransferCallback one() {
        enter();
        return (transfer, error) -> leave(error);
    }

    /** The callback of an atomic operation. */
    FetchCallback oneFetch() {
        enter();
        return (transfer, previous, error) -> leave(error);
    }

    void enter() {
        try {
            assertThat(room.tryAcquire(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS))
                    .as("progress: %d of %d have ended", ended.get(), submitted.get())
                    .isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("interrupted while transfers run", e);
        }
        submitted.incrementAndGet();
    }

    void leave(@Nullable SluiceException error) {
        if (error != null) {
            failure.compareAndSet(null, error);
        }
        ended.incrementAndGet();
        room.release();
    }

    /** Waits until all have ended with success. */
    void awaitAllSuccess() {
        Patience.until("all transfers ended", () -> ended.get() >= submitted.get());
        if (failure.get() != null) {
            throw new AssertionError("a transfer failed", failure.get());
        }
        assertThat(ended).as("terminal signals").hasValue(submitted.get());
    }
}
