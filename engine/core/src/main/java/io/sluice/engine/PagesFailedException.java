package io.sluice.engine;

import java.io.Serial;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Some pages of a transfer failed, or their outcome is unknown. The pages of a chunk fail together, including those
 * that were moved. The error of the first failure is the cause.
 */
public final class PagesFailedException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** The positions of the pages that failed. */
    private final BitSet failedPages;
    /** The number of pages of the transfer. */
    private final int pages;

    /**
     * Creates an exception.
     *
     * @param failedPages the positions in the list of the pages that failed, at least one; copied
     * @param pages the number of pages of the transfer
     * @param first the error of the first failure
     */
    public PagesFailedException(BitSet failedPages, int pages, SluiceException first) {
        super(
                failedPages.cardinality() + " of " + pages + " pages failed, the first in the list is page "
                        + failedPages.nextSetBit(0) + ", the first error is: " + first.getMessage(),
                first);
        this.failedPages = (BitSet) failedPages.clone();
        this.pages = pages;
    }

    /**
     * Returns an error that names the failed pages, also for a transfer that ended as a whole by a time-out, a cancel,
     * or the end of the connection.
     *
     * @param failedPages as passed to {@link PageCallback}
     * @param pages the number of pages of the transfer
     * @param error as passed to {@link PageCallback}
     * @return the error itself if it names the pages, if no page failed, or if it is {@code null}; otherwise a {@link
     *     PagesFailedException} with the error as its cause
     */
    public static @Nullable SluiceException of(BitSet failedPages, int pages, @Nullable SluiceException error) {
        if (error == null || error instanceof PagesFailedException || failedPages.isEmpty()) {
            return error;
        }
        return new PagesFailedException(failedPages, pages, error);
    }

    /**
     * Returns which pages failed or may not have been moved.
     *
     * @return their positions in the list, from 0; a copy
     */
    public BitSet failedPages() {
        return (BitSet) failedPages.clone();
    }

    /**
     * The number of pages of the transfer.
     *
     * @return at least 1
     */
    public int pages() {
        return pages;
    }
}
