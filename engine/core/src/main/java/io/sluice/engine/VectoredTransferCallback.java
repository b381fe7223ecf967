package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/**
 * Receives the results of a vectored transfer on a poller's thread, one call at a time: each element once, in the order
 * in which the elements end, and then the terminal signal. The rules of {@link TransferCallback} apply.
 */
public interface VectoredTransferCallback extends TransferCallback {
    /**
     * Called when an element has ended. After a cancel no further element is reported.
     *
     * @param index the element's position in the list
     * @param error {@code null} for success
     */
    void element(int index, @Nullable SluiceException error);

    /**
     * Called when the transfer has ended and, unless it was cancelled, every element was reported.
     *
     * @param transfer the transfer
     * @param error {@code null} if every element succeeded, {@link ElementsFailedException} if some did not, or the
     *     error that ended the transfer as a whole
     */
    @Override
    void terminated(Transfer transfer, @Nullable SluiceException error);
}
