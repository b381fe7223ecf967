package io.sluice.engine.transport.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.FetchCallback;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** How one transfer ended, and how often. */
final class TransferEnd implements TransferCallback, FetchCallback {
    private final AtomicInteger count = new AtomicInteger();
    private final CompletableFuture<Optional<SluiceException>> error = new CompletableFuture<>();
    private volatile long fetched;

    @Override
    public void terminated(Transfer transfer, @Nullable SluiceException failure) {
        count.incrementAndGet();
        error.complete(Optional.ofNullable(failure));
    }

    @Override
    public void terminated(Transfer transfer, long previous, @Nullable SluiceException failure) {
        fetched = previous;
        terminated(transfer, failure);
    }

    boolean isEnded() {
        return error.isDone();
    }

    /** Empty for success. */
    Optional<SluiceException> await() {
        return await(Patience.BOUND);
    }

    private Optional<SluiceException> await(Duration bound) {
        Optional<SluiceException> ended = Patience.await(error, bound);
        assertThat(count).as("a transfer ends once").hasValue(1);
        return ended;
    }

    void awaitSuccess() {
        awaitSuccess(Patience.BOUND);
    }

    /** Waits as {@link #awaitSuccess()}, up to a given time. */
    void awaitSuccess(Duration bound) {
        await(bound).ifPresent(failure -> {
            throw new AssertionError("expected success", failure);
        });
    }

    /** The word before the operation. */
    long awaitFetched() {
        awaitSuccess();
        return fetched;
    }

    <E extends SluiceException> E awaitFailure(Class<E> type) {
        Optional<SluiceException> failure = await();
        assertThat(failure).as("expected %s", type.getSimpleName()).isPresent();
        assertThat(failure.get()).isInstanceOf(type);
        return type.cast(failure.get());
    }
}
