package io.sluice.experts;

/** Whether stores go past the caches: from some size on, which the copies of the engine have as well, that is quicker. */
final class Caches {
    private static final long EXCEEDED_FROM_BYTES = 2560L << 10;

    private Caches() {}

    /**
     * Whether so many bytes that are written one after another leave the near caches before they are read.
     *
     * @param bytes what a rank writes in one call
     */
    static boolean areExceededBy(long bytes) {
        return bytes >= EXCEEDED_FROM_BYTES;
    }
}
