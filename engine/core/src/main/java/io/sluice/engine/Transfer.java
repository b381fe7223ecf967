package io.sluice.engine;

import java.util.concurrent.CompletableFuture;

/** A transfer that was submitted. All methods may be called from any thread. */
public interface Transfer {
    /**
     * Returns the connection of this transfer.
     *
     * @return the connection; for a transfer over several, that of its first element
     */
    Connection connection();

    /**
     * Cancels the transfer. If it has not ended, it ends with {@link TransferCancelledException}; posted chunks
     * continue, hold their credits, and may still touch memory until {@link #quiesced()}. Another call, or one after
     * the end, does nothing.
     */
    void cancel();

    /**
     * Returns whether the terminal signal was given.
     *
     * @return true once the callback has been or is being called
     */
    boolean isTerminated();

    /**
     * Waits until nothing of this transfer can touch memory, or looks at its start event, any more. After a success
     * that is immediately; after a cancel, time-out or error it is when the posted chunks are done or the engine has
     * ended them by force, within the liveness time-out.
     *
     * @return completes normally, on a thread that must not be blocked
     */
    CompletableFuture<Void> quiesced();
}
