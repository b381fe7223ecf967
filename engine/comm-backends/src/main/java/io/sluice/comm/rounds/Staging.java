package io.sluice.comm.rounds;

import java.lang.foreign.MemorySegment;

/** Pinned memory in two areas for each other rank: what goes there, and what comes from there. */
public final class Staging {
    /** The length of an area: two headers, and about a mebibyte. */
    public static final int AREA_BYTES = (1 << 20) + 4096;

    private final Gpu gpu;

    /**
     * Lays it out in a GPU's pinned memory.
     *
     * @param gpu opened with {@link #bytes} bytes of it
     */
    public Staging(Gpu gpu) {
        this.gpu = gpu;
    }

    /**
     * Returns how much pinned memory it takes.
     *
     * @param ranks of the team
     * @return bytes
     */
    public static long bytes(int ranks) {
        return 2L * ranks * AREA_BYTES;
    }

    private static long outgoingAt(int rank) {
        return 2L * rank * AREA_BYTES;
    }

    /**
     * Returns an area as the host sees it.
     *
     * @param rank where it goes
     * @return the area
     */
    public MemorySegment outgoing(int rank) {
        return gpu.pinned().asSlice(outgoingAt(rank), AREA_BYTES);
    }

    /**
     * Returns an area as the host sees it.
     *
     * @param rank where it comes from
     * @return the area
     */
    public MemorySegment incoming(int rank) {
        return gpu.pinned().asSlice(outgoingAt(rank) + AREA_BYTES, AREA_BYTES);
    }

    /**
     * Returns an area as GPUs see it.
     *
     * @param rank where it goes
     * @return its address
     */
    public long outgoingAddress(int rank) {
        return gpu.pinnedAddress() + outgoingAt(rank);
    }

    /**
     * Returns an area as GPUs see it.
     *
     * @param rank where it comes from
     * @return its address
     */
    public long incomingAddress(int rank) {
        return outgoingAddress(rank) + AREA_BYTES;
    }
}
