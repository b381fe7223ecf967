package io.sluice.engine;

import java.util.concurrent.CompletableFuture;

/** A transfer that was submitted. All methods may be called from any thread. */
public interface Transfer {
    /**
     * The connection it runs on.
     *
     * @return the connection; of a transfer over several, that of its first element
     */
    Connection connection();

    /**
     * Asks for the transfer to end now. If it has not ended, it ends with {@link TransferCancelledException}; chunks that
     * are posted already run on, hold their credits and may still touch local memory until {@link #quiesced()}. Calling it
     * again, or after the end, does nothing.
     */
    void cancel();

    /**
     * Whether the terminal signal was given.
     *
     * @return true once the callback was called, or is being called
     */
    boolean isTerminated();

    /**
     * When nothing of this transfer can touch memory any more. After a success that is at once; after a cancel, time-out
     * or error when the posted chunks are done, or the engine has forced them to an end, within the liveness time-out.
     *
     * @return completes normally, on a poller's thread
     */
    CompletableFuture<Void> quiesced();
}
