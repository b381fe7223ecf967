package io.sluice.vertx;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The delivery of an outcome to a future. */
class StageDelivery<T> extends ContextMailbox.Delivery {
    private final Stage<T> end = new Stage<>();
    private @Nullable T value;
    private @Nullable Throwable error;

    /** Completes on delivery. */
    final CompletionStage<T> end() {
        return end;
    }

    /** Sets the outcome, before the delivery. */
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
     * A stage for one listener: the context's future that is made from it. It holds the listener itself, because the
     * object that {@link CompletableFuture} allocates for each would be half of a transfer's allocation here. Further
     * listeners work as well.
     */
    private static final class Stage<T> extends CompletableFuture<T> {
        private @Nullable BiConsumer<? super T, ? super Throwable> first;

        /** Returns itself for the first listener: no caller here uses the stage that follows. */
        @Override
        public CompletableFuture<T> whenComplete(BiConsumer<? super T, ? super Throwable> action) {
            if (first != null || isDone()) {
                return super.whenComplete(action);
            }
            first = action;
            return this;
        }

        /** Completes, and calls the first listener. Called once; listeners were added before, or on the same thread. */
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
