package io.sluice.vertx;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** An end on its way to a future. */
class StageDelivery<T> extends ContextMailbox.Delivery {
    private final Stage<T> end = new Stage<>();
    private @Nullable T value;
    private @Nullable Throwable error;

    /** Ends on delivery. */
    final CompletionStage<T> end() {
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
    final void deliver() {
        end.end(value, error);
    }

    /**
     * A stage for one listener: the future of a context that is made from it. It keeps the listener itself, as the object that
     * {@link CompletableFuture} makes for each would be half of what a transfer allocates here. Further listeners are served, too.
     */
    private static final class Stage<T> extends CompletableFuture<T> {
        private @Nullable BiConsumer<? super T, ? super Throwable> first;

        /** For the first listener it returns itself: no caller here uses the stage that follows the listener. */
        @Override
        public CompletableFuture<T> whenComplete(BiConsumer<? super T, ? super Throwable> action) {
            if (first != null || isDone()) {
                return super.whenComplete(action);
            }
            first = action;
            return this;
        }

        /** Ends, and calls the first listener. Called once; listeners came before, or on the same thread. */
        @SuppressWarnings("NullAway") // a stage without a value, such as CompletableFuture<Void>, ends with null
        void end(@Nullable T value, @Nullable Throwable error) {
            if (error == null) {
                complete(value);
            } else {
                completeExceptionally(error);
            }
            if (first != null) {
                first.accept(value, error);
            }
        }
    }
}
