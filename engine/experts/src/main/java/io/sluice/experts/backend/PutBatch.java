package io.sluice.experts.backend;

/**
 * Pieces of one length that are put to one rank together, again and again. Filling and starting it allocate nothing
 * unless it has more pieces than ever before. The loop's alone.
 */
public interface PutBatch {
    /** Removes all pieces. Not while the batch is under way. */
    void clear();

    /**
     * Adds a piece.
     *
     * @param sourceOffset where it begins in the source, in bytes
     * @param targetOffset where it goes in the target of the other rank, in bytes
     * @throws IndexOutOfBoundsException if it leaves its memory
     */
    void add(long sourceOffset, long targetOffset);

    /**
     * Returns the number of pieces.
     *
     * @return 0 or more
     */
    int size();

    /**
     * Puts the pieces. An empty batch ends at once.
     *
     * @param callback called when the bytes of the sources may change again and no piece can be lost any more but with
     *     the rank
     * @throws IllegalStateException if the batch is under way
     */
    void start(CommCallback callback);
}
