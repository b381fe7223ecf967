package io.sluice.reactor;

import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/**
 * One subscriber's wait. It alone has its future, so a cancel ends it, and nothing of it is left behind.
 *
 * @param <T> what is waited for
 */
final class WaitSubscription<T> extends FutureSubscription<T> {
    /** Written before the state says that the wait can be abandoned, and read after. */
    private @Nullable CompletableFuture<?> wait;

    WaitSubscription(
            CoreSubscriber<? super T> actual, Supplier<? extends CompletionStage<? extends @Nullable T>> operation) {
        super(actual, operation);
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
