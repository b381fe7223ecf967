package io.sluice.engine;

import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/** Receives the end of a transfer of pages, on a poller's thread. The rules of {@link TransferCallback} hold. */
@FunctionalInterface
public interface PageCallback {
    /**
     * The transfer has ended. Called exactly once a run.
     *
     * @param transfer the transfer
     * @param failed the places in the list of the pages that failed, of which it is unknown whether they were moved, or that
     *     were in one chunk with such; empty on success. It stays as it is when the transfer is started again inside the call
     * @param error {@code null} if every page was moved, {@link PagesFailedException} if some were not, or what ended the
     *     transfer as a whole, such as {@link TransferTimeoutException}
     */
    void terminated(Transfer transfer, BitSet failed, @Nullable SluiceException error);
}
