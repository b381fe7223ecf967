package io.sluice.engine.flow;

/** Chooses the chunk size of elements. */
final class Chunker {
    private static final int PIECES = 16;
    private static final int WINDOW_SHARE = 8;

    private final long largest;
    private final long preferred;

    /**
     * Creates the chunker of a connection.
     *
     * @param windowBytes the connection's byte limit, or the engine's if that is less
     * @param largestMessage the transport's largest message
     * @param preferred the transport's preferred chunk
     */
    Chunker(long windowBytes, long largestMessage, long preferred) {
        this.preferred = preferred;
        largest = Math.max(1, Math.min(windowBytes / WINDOW_SHARE, largestMessage));
    }

    /**
     * Returns the chunk size for an element: large elements in sixteen pieces, so that lanes share them, but no chunk
     * so small that its overhead matters or so large that a few fill the window.
     *
     * @param bytes the element's length
     * @return min(max(preferred, bytes / 16), window / 8, largest message)
     */
    long chunk(long bytes) {
        return Math.min(Math.max(preferred, bytes / PIECES), largest);
    }
}
