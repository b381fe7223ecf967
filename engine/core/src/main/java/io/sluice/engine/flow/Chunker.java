package io.sluice.engine.flow;

/** How large the pieces are that an element is posted in. */
final class Chunker {
    private static final int PIECES = 16;
    private static final int WINDOW_SHARE = 8;

    private final long largest;
    private final long preferred;

    /**
     * Prepares for one connection.
     *
     * @param windowBytes the connection's byte limit, or the engine's if that is less
     * @param largestMessage the transport's
     * @param preferred the transport's preferred chunk
     */
    Chunker(long windowBytes, long largestMessage, long preferred) {
        this.preferred = preferred;
        largest = Math.max(1, Math.min(windowBytes / WINDOW_SHARE, largestMessage));
    }

    /**
     * The chunk for an element: large ones in sixteen pieces, so that lanes share them, none so small that its overhead
     * shows, none so large that a few of them fill the window.
     *
     * @param bytes the element's length
     * @return min(max(preferred, bytes / 16), window / 8, largest message)
     */
    long chunk(long bytes) {
        return Math.min(Math.max(preferred, bytes / PIECES), largest);
    }
}
