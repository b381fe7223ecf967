package io.sluice.comm.nccl;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.sluice.comm.rounds.Staging;
import java.lang.foreign.MemorySegment;

/**
 * Counts go by send and receive, and what they announce by puts with signals into a window of each rank. A window is memory
 * of the GPU, so the bytes are copied from and to pinned memory.
 */
final class NcclWindowExchange extends NcclExchange {
    private static final long AREA_BYTES = Staging.AREA_BYTES;

    private final int own;
    private final MemorySegment window;
    private final MemorySegment waits;
    private final int[] awaited;
    private boolean isPut;
    private int awaitedOffset;
    private int count;
    private long memory;

    NcclWindowExchange(NcclLibrary library, byte[] id, int rank, int ranks) {
        super(library, id, rank, ranks);
        this.own = rank;
        this.awaited = new int[ranks];
        this.window = arena.allocate(ADDRESS);
        this.waits = arena.allocate((long) ranks * NcclLibrary.WAIT_BYTES, Integer.BYTES);
    }

    // as the staging, for each rank what goes there and what comes from there
    private static long outgoingAt(int other) {
        return 2L * other * AREA_BYTES;
    }

    private static long incomingAt(int other) {
        return outgoingAt(other) + AREA_BYTES;
    }

    @Override
    public void open(Check check) {
        super.open(check);
        memory = library.allocate(2L * ranks * AREA_BYTES);
        library.register(communicator, memory, 2L * ranks * AREA_BYTES, window);
        awaitReady("a window", check);
    }

    @Override
    public String description() {
        return "NCCL " + library.versionText() + ", puts into windows";
    }

    @Override
    public void start(int offset, int[] sends, int[] receives) {
        isPut = offset >= ANNOUNCED_AT;
        if (!isPut) {
            super.start(offset, sends, receives);
            return;
        }
        for (int other = 0; other < ranks; other++) {
            if (sends[other] > 0) {
                gpu.copy(memory + outgoingAt(other) + offset, staging.outgoingAddress(other) + offset, sends[other]);
            }
        }
        count = 0;
        boolean puts = false;
        for (int other = 0; other < ranks; other++) {
            awaited[other] = receives[other];
            puts |= sends[other] > 0;
            if (receives[other] > 0) {
                long at = (long) count++ * NcclLibrary.WAIT_BYTES;
                waits.set(JAVA_INT, at, 1);
                waits.set(JAVA_INT, at + 4, other);
            }
        }
        awaitedOffset = offset;
        if (puts) {
            put(offset, sends);
        } else {
            await();
        }
    }

    private void put(int offset, int[] sends) {
        library.startGroup();
        try {
            for (int other = 0; other < ranks; other++) {
                if (sends[other] > 0) {
                    library.putSignal(
                            memory + outgoingAt(other) + offset,
                            sends[other],
                            other,
                            window.get(ADDRESS, 0),
                            incomingAt(own) + offset,
                            communicator,
                            stream);
                }
            }
        } finally {
            library.endGroup(communicator);
        }
        restart();
    }

    /** Has the stream wait for what the others put: a group of its own, as it needs no other rank's part. */
    private void await() {
        int signals = count;
        count = 0;
        library.startGroup();
        try {
            library.waitSignal(signals, waits, communicator, stream);
        } finally {
            library.endGroup(communicator);
        }
        restart();
    }

    @Override
    void launched() {
        if (isPut && count > 0) {
            await();
            return;
        }
        for (int other = 0; isPut && other < ranks; other++) {
            if (awaited[other] > 0) {
                gpu.copy(
                        staging.incomingAddress(other) + awaitedOffset,
                        memory + incomingAt(other) + awaitedOffset,
                        awaited[other]);
            }
        }
    }

    @Override
    void release() {
        if (memory != 0) {
            library.free(memory);
            memory = 0;
        }
    }
}
