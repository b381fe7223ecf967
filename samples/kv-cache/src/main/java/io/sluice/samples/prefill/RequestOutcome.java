package io.sluice.samples.prefill;

/**
 * How a request ended.
 *
 * @param pages pages of the request, over all layers
 * @param pagesMoved pages that were written and acknowledged
 * @param pagesReused pages that the decode side had cached
 * @param pagesChecked pages that the decode side has checked
 * @param pagesCorrupted those that were not as they had been filled
 * @param bytes all that was written and acknowledged: pages, and the seal of each
 * @param pageBytes those of pages
 * @param writeNanos how long writes were under way in {@linkplain PageMover.Phases#SEPARATE separate phases}: of each burst from its
 *     submission to its last completion, without filling and checking; 0 if phases overlapped
 * @param transferNanos from the last filled page to the last visible page; {@link #NOTHING_MOVED} if no page was moved
 */
public record RequestOutcome(
        long pages,
        long pagesMoved,
        long pagesReused,
        long pagesChecked,
        long pagesCorrupted,
        long bytes,
        long pageBytes,
        long writeNanos,
        long transferNanos) {

    /** Stands for a transfer time that does not exist. */
    public static final long NOTHING_MOVED = -1;

    /** Whether every page was either moved and checked, or reused. */
    public boolean accountedFor() {
        return pagesMoved + pagesReused == pages && pagesChecked == pagesMoved;
    }
}
