package io.sluice.engine;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Something outside of the engine that the end of a transfer brings about, such as a computation on a device that waits for
 * the bytes. See {@link TransferOptions#completeInto(CompletionEvent)}.
 */
@FunctionalInterface
public interface CompletionEvent {
    /**
     * The transfer has ended. Called once, on a poller's thread or where {@link TransferCallback} says, right before the transfer's callback; the rules of
     * {@link TransferCallback} hold.
     *
     * @param error {@code null} for success
     */
    void complete(@Nullable SluiceException error);

    /**
     * The completion of a future; of a prepared transfer, by its first run.
     *
     * @param future completed with {@code null}, or with the transfer's error
     * @return the event
     */
    static CompletionEvent of(CompletableFuture<Void> future) {
        return error -> {
            if (error == null) {
                future.complete(null);
            } else {
                future.completeExceptionally(error);
            }
        };
    }
}
