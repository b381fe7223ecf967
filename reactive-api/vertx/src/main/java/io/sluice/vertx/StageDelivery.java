package io.sluice.vertx;

import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** An end that is on its way to a future. */
class StageDelivery<T> extends Delivery {
    private final DeliveredStage<T> end = new DeliveredStage<>();
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
}
