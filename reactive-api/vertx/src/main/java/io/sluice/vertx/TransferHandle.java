package io.sluice.vertx;

import io.vertx.core.Future;

/**
 * An operation that can be cancelled. All methods may be called from any thread; the futures complete on the context that started
 * the operation.
 *
 * @param <T> what it gives
 */
public interface TransferHandle<T> {
    /**
     * How the operation ends. It always does, exactly once.
     *
     * @return the result, or a {@link io.sluice.engine.SluiceException}
     */
    Future<T> result();

    /**
     * Asks for the operation to end now. If it has not ended, {@link #result()} fails with
     * {@link io.sluice.engine.TransferCancelledException}. Chunks that are posted already run on, hold their credits and may still
     * touch local memory until {@link #quiesced()}; a write may have changed the target. Calling it again, or after the end, does
     * nothing.
     */
    void cancel();

    /**
     * When nothing of this operation can touch memory any more: after a success at once; after a cancel, time-out or error when
     * its posted chunks are done, at the latest after the liveness time-out.
     *
     * @return completes normally
     */
    Future<Void> quiesced();
}
