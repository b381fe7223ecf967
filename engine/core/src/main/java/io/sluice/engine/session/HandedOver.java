package io.sluice.engine.session;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/**
 * Futures of resources: a resource that arrives after the caller has cancelled the future, or let it time out, is
 * released.
 */
final class HandedOver {
    private HandedOver() {}

    /**
     * Returns a future for the caller.
     *
     * @param source completes with the resource, or with an error
     * @param giveBack releases the resource if the caller has completed the future earlier
     */
    static <T> CompletableFuture<T> of(CompletionStage<T> source, Consumer<? super T> giveBack) {
        CompletableFuture<T> given = new CompletableFuture<>();
        source.whenComplete((value, error) -> {
            if (error != null) {
                Throwable cause = error instanceof CompletionException ? error.getCause() : null;
                given.completeExceptionally(cause == null ? error : cause);
            } else if (!given.complete(value)) {
                giveBack.accept(value);
            }
        });
        return given;
    }
}
