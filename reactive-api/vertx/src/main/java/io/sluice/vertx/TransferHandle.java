package io.sluice.vertx;

import io.vertx.core.Future;

/**
 * An operation that can be cancelled. All methods may be called from any thread; the futures complete on the context
 * that started the operation.
 *
 * @param <T> the type of the result
 */
public interface TransferHandle<T> {
    /**
     * Returns the outcome of the operation. Completes exactly once, in every case.
     *
     * @return the result, or a {@link io.sluice.engine.SluiceException}
     */
    Future<T> result();

    /**
     * Cancels the operation. If it has not ended, {@link #result()} fails with {@link
     * io.sluice.engine.TransferCancelledException}. Posted chunks continue, hold their credits and may still access
     * local memory until {@link #quiesced()}; a write may have changed the target. Has no effect when called again or
     * after the end.
     */
    void cancel();

    /**
     * Waits until nothing of this operation can access memory any more: immediately after a success; after a cancel,
     * time-out or error when its posted chunks have ended, at the latest after the liveness time-out.
     *
     * @return completes normally
     */
    Future<Void> quiesced();
}
