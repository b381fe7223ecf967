package io.sluice.samples.report;

/** The share of pages that a cache spared. */
final class CacheHits {

    private CacheHits() {}

    /** From 0 to 1; 0 if there were no pages. */
    static double rate(long pagesMoved, long pagesReused) {
        long pages = pagesMoved + pagesReused;
        return pages == 0 ? 0 : (double) pagesReused / pages;
    }
}
