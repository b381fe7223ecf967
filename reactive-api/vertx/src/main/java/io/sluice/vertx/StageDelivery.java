package io.sluice.vertx;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/** An end that is on its way to a future. */
class StageDelivery<T> extends Delivery {
    private final CompletableFuture<T> end = new CompletableFuture<>();
    private @Nullable T value;
    private @Nullable Throwable error;

    /** Ends on delivery. */
    final CompletableFuture<T> end() {
        return end;
    }

    /** Says how it has ended; before it is delivered. */
    final void ended(@Nullable T result, @Nullable Throwable failure) {
        value = result;
        error = failure instanceof CompletionException wrapped && wrapped.getCause() != null
                ? wrapped.getCause()
                : failure;
    }

    @Override
    @SuppressWarnings("NullAway") // a future without a value, such as CompletableFuture<Void>, ends with null
    final void deliver() {
        if (error == null) {
            end.complete(value);
        } else {
            end.completeExceptionally(error);
        }
    }
}
