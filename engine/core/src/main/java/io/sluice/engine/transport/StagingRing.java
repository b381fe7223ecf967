package io.sluice.engine.transport;

import java.lang.foreign.MemorySegment;

/**
 * Pinned memory of the host in pieces of one size, each of which a device fills or empties while others are in use.
 * Nothing blocks, and nothing is allocated once the ring is ready. Confined to one loop.
 */
public interface StagingRing {
    /** The most copies of one piece. */
    int MOST_COPIES = PageTable.MOST_PAGES;

    /**
     * Returns whether copies from and to a region's memory can begin. If not, that is prepared, and the ring's progress
     * reported when it can or never will.
     *
     * @param memory the memory
     * @return true if {@link #begin} may be called for it; also if the memory cannot be copied, and then pieces fail
     */
    boolean isReady(StagedMemory memory);

    /**
     * Returns the number of pieces.
     *
     * @return 2 or more
     */
    int pieces();

    /**
     * Returns the size of a piece.
     *
     * @return bytes
     */
    long pieceBytes();

    /**
     * Returns the pieces, one behind the other. To be called only once the ring is ready.
     *
     * @return the host's memory
     */
    MemorySegment memory();

    /**
     * Begins to describe the copies of a piece, which is done with its earlier ones.
     *
     * @param piece the number of the piece, from 0
     * @param memory the device's memory, for which the ring is ready
     * @param out true to copy from the device
     */
    void begin(int piece, StagedMemory memory, boolean out);

    /**
     * Adds a copy to the piece begun last.
     *
     * @param address the address of the first byte in the device's memory
     * @param at the offset of the first byte in the piece
     * @param bytes the length, at least 1; within the piece
     */
    void add(long address, long at, long bytes);

    /** Gives the copies of the piece begun last to the device. If it refuses them, they have failed. */
    void end();

    /**
     * Returns whether the device is done with a piece.
     *
     * @param piece the number of the piece
     * @return true also if it was never begun
     */
    boolean isDone(int piece);

    /**
     * Returns whether copies of a piece have failed.
     *
     * @param piece the number of the piece, with which the device is done
     * @return false if all have been executed; always true once the device has failed
     */
    boolean hasFailed(int piece);

    /**
     * Returns whether the device is done with all pieces, so that it touches neither them nor the regions.
     *
     * @return false while copies are under way
     */
    boolean isIdle();

    /**
     * Returns for how long the device has not done its oldest work, or the work that makes the ring ready.
     *
     * @param now the present, as {@link System#nanoTime()}
     * @return nanoseconds; 0 if nothing is under way
     */
    long waited(long now);

    /** Gives the pinned memory back, on another thread. The ring must be idle. Calling it again does nothing. */
    void close();
}
