package io.sluice.vertx;

import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A stage for one listener, the future of a context that is made from it. The listener is kept as it is: what {@link CompletableFuture}
 * makes for each would be half of what a transfer allocates here. Others that come are served, too.
 */
final class DeliveredStage<T> extends CompletableFuture<T> {
    private @Nullable BiConsumer<? super T, ? super Throwable> first;

    /** Of the first listener it gives itself; nobody here asks for what comes after that has been called. */
    @Override
    public CompletableFuture<T> whenComplete(BiConsumer<? super T, ? super Throwable> action) {
        if (first != null || isDone()) {
            return super.whenComplete(action);
        }
        first = action;
        return this;
    }

    /** Ends with one of the two, and tells the first listener. Called once; listeners came before, or on the same thread. */
    @SuppressWarnings("NullAway") // a stage without a value, such as CompletableFuture<Void>, ends with null
    void end(@Nullable T value, @Nullable Throwable error) {
        if (error == null) {
            complete(value);
        } else {
            completeExceptionally(error);
        }
        BiConsumer<? super T, ? super Throwable> listener = first;
        if (listener != null) {
            listener.accept(value, error);
        }
    }
}
