package io.sluice.reactor;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/**
 * The wait of one subscriber. It owns its future, so a cancel ends the wait and leaves nothing behind.
 *
 * @param <T> the type of the awaited value
 */
final class WaitSubscription<T> extends FutureSubscription<T> {
    /** Written before the state allows abandoning the wait, and read afterwards. */
    private @Nullable CompletableFuture<?> wait;

    WaitSubscription(
            CoreSubscriber<? super T> actual, Supplier<? extends CompletionStage<? extends @Nullable T>> operation) {
        super(actual, operation, null);
    }

    @Override
    void started(CompletionStage<? extends @Nullable T> stage) {
        wait = stage.toCompletableFuture();
        if (!running()) {
            abandon();
        }
    }

    @Override
    void abandon() {
        CompletableFuture<?> started = wait;
        if (started != null) {
            started.cancel(false);
        }
    }

    @Override
    void unwanted(Throwable error) {
        if (!(error instanceof CancellationException)) {
            super.unwanted(error);
        }
    }
}
