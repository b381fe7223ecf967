package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/**
 * Receives the results of a vectored transfer on a poller's thread, one call at a time: each element once, in the order in
 * which they end, then the terminal signal. The rules of {@link TransferCallback} hold.
 */
public interface VectoredTransferCallback extends TransferCallback {
    /**
     * An element has ended. After a cancel no further element is reported.
     *
     * @param index the element's place in the list
     * @param error {@code null} for success
     */
    void element(int index, @Nullable SluiceException error);

    /**
     * The transfer has ended and every element was reported, unless it was cancelled.
     *
     * @param transfer the transfer
     * @param error {@code null} if every element succeeded, {@link ElementsFailedException} if some did not, or what ended
     *     the transfer as a whole
     */
    @Override
    void terminated(Transfer transfer, @Nullable SluiceException error);
}
