package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/**
 * The result of a transfer or of one element of a vectored transfer.
 *
 * @param element the element's position in its list; 0 for a single transfer
 * @param bytes the number of bytes moved: the length for a success, 0 otherwise (the target of a failed write is
 *     undefined)
 * @param error {@code null} for success
 */
public record TransferResult(
        int element, long bytes, @Nullable SluiceException error) {
    /**
     * Returns whether the transfer or element succeeded.
     *
     * @return true if there is no error
     */
    public boolean succeeded() {
        return error == null;
    }
}
