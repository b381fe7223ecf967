package io.sluice.engine;

import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Receives the terminal signal of a transfer of pages on a poller's thread. The rules of {@link TransferCallback}
 * apply.
 */
@FunctionalInterface
public interface PageCallback {
    /**
     * Called exactly once for each run, when the transfer has ended.
     *
     * @param transfer the transfer
     * @param failed the positions in the list of the pages that failed, whose outcome is unknown, or that shared a
     *     chunk with such a page; empty on success. Starting the transfer again inside the call does not change it
     * @param error {@code null} if every page was moved, {@link PagesFailedException} if some were not, or the error
     *     that ended the transfer as a whole, such as {@link TransferTimeoutException}
     */
    void terminated(Transfer transfer, BitSet failed, @Nullable SluiceException error);
}
