package io.sluice.engine;

import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * Something outside the engine that the end of a transfer triggers, such as a computation on a device that waits for
 * the bytes. See {@link TransferOptions#completeInto(CompletionEvent)}.
 */
@FunctionalInterface
public interface CompletionEvent {
    /**
     * Called once when the transfer has ended, immediately before its callback and on the same thread. The rules of
     * {@link TransferCallback} apply.
     *
     * @param error {@code null} for success
     */
    void complete(@Nullable SluiceException error);

    /**
     * Returns an event that completes a future. For a prepared transfer its first run completes it.
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
