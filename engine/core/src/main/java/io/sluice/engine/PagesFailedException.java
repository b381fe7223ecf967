package io.sluice.engine;

import java.io.Serial;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/**
 * Some pages of a transfer failed, or it is unknown whether they were moved. Pages of one chunk fail together, also
 * those of them that were moved. The error of the first that failed is the cause.
 */
public final class PagesFailedException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** The places of the pages that failed. */
    private final BitSet failedPages;
    /** How many pages there were. */
    private final int pages;

    /**
     * Makes one.
     *
     * @param failedPages the places in the list of the pages that failed, at least one; copied
     * @param pages how many pages there were
     * @param first the error of those that failed first
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
     * The error of a transfer of pages that also names the pages, where what ended it as a whole does not: a time-out, a cancel,
     * or the end of the connection.
     *
     * @param failedPages as {@link PageCallback} is given them
     * @param pages how many pages there were
     * @param error as {@link PageCallback} is given it
     * @return the error itself if it names the pages, or no page failed, or it is {@code null}; otherwise one that does, with the
     *     error as its cause
     */
    public static @Nullable SluiceException of(BitSet failedPages, int pages, @Nullable SluiceException error) {
        if (error == null || error instanceof PagesFailedException || failedPages.isEmpty()) {
            return error;
        }
        return new PagesFailedException(failedPages, pages, error);
    }

    /**
     * Which pages failed, or may not have been moved.
     *
     * @return their places in the list, from 0; a copy
     */
    public BitSet failedPages() {
        return (BitSet) failedPages.clone();
    }

    /**
     * How many pages there were.
     *
     * @return at least 1
     */
    public int pages() {
        return pages;
    }
}
