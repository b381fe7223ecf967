package io.sluice.comm.nvshmem;

import io.sluice.comm.rounds.Staging;

/**
 * The symmetric memory of a process, for as long as it runs: areas as the staging has them, a word for each other rank, and
 * what kernels use. The words count the messages between two ranks, over all back ends that follow each other.
 */
final class NvshmemHeap {
    private static final long ALIGNMENT = 4096;

    final long address;
    final int ranks;
    final long gpuBytes;
    final long[] sent;
    final long[] received;

    NvshmemHeap(long address, int ranks, long gpuBytes) {
        this.address = address;
        this.ranks = ranks;
        this.gpuBytes = gpuBytes;
        this.sent = new long[ranks];
        this.received = new long[ranks];
    }

    private static long wordsAt(int ranks) {
        return Staging.bytes(ranks);
    }

    private static long gpuAt(int ranks) {
        return (wordsAt(ranks) + (long) ranks * Long.BYTES + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    /** How much it takes. */
    static long bytes(int ranks, long gpuBytes) {
        return gpuAt(ranks) + gpuBytes;
    }

    long outgoing(int rank) {
        return address + 2L * rank * Staging.AREA_BYTES;
    }

    long incoming(int rank) {
        return outgoing(rank) + Staging.AREA_BYTES;
    }

    long words() {
        return address + wordsAt(ranks);
    }

    long word(int rank) {
        return words() + (long) rank * Long.BYTES;
    }

    long forKernels() {
        return address + gpuAt(ranks);
    }
}
