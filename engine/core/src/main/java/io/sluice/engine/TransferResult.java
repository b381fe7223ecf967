package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/**
 * How one transfer, or one element of a vectored transfer, ended.
 *
 * @param element the element's place in its list; 0 for a single transfer
 * @param bytes how many bytes were moved: the length for a success, 0 otherwise (bytes of a failed write are undefined)
 * @param error {@code null} for success
 */
public record TransferResult(
        int element, long bytes, @Nullable SluiceException error) {
    /**
     * Whether it succeeded.
     *
     * @return true if there is no error
     */
    public boolean succeeded() {
        return error == null;
    }
}
