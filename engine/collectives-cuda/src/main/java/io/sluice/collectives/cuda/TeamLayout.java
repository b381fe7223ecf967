package io.sluice.collectives.cuda;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;

/** What kernels and host have in common: the structures of {@code collectives.cu}, and where things are in a rank's scratch. Immutable. */
final class TeamLayout {
    static final int MOST_RANKS = 64;
    static final int MOST_BLOCKS = 256;
    static final int THREADS = 512;
    /** The bytes of a message that share a flag. */
    static final int UNIT = 8;
    /** What a thread of the other kernels moves at once. */
    static final int VECTOR = 16;

    private static final long FLAGS_BYTES = 2L * MOST_BLOCKS * MOST_RANKS * Long.BYTES;
    private static final int PROGRESS_BYTES = 256;
    private static final int SETS = 2;

    static final long WORDS_BYTES = 2 * Long.BYTES;
    static final long REVOKED_OFFSET = 0;
    static final long FAILURE_OFFSET = Long.BYTES;
    static final long DIFFERS = 1L << 32;

    private static final long POINTERS = (long) MOST_RANKS * Long.BYTES;
    /** Of {@code struct team}. */
    static final StructLayout TEAM = words(MOST_RANKS + 6);

    static final long TEAM_STATE = POINTERS;
    static final long TEAM_HOST = TEAM_STATE + Long.BYTES;
    static final long TEAM_SLOT_BYTES = TEAM_HOST + Long.BYTES;
    static final long TEAM_PUSH_SLOT_BYTES = TEAM_SLOT_BYTES + Long.BYTES;
    static final long TEAM_PATIENCE = TEAM_PUSH_SLOT_BYTES + Long.BYTES;
    static final long TEAM_RANK = TEAM_PATIENCE + Long.BYTES;
    static final long TEAM_RANKS = TEAM_RANK + Integer.BYTES;

    /** Of {@code struct exchange}. */
    static final StructLayout EXCHANGE = words(8);

    static final long EXCHANGE_IN = 0;
    static final long EXCHANGE_OUT = Long.BYTES;
    static final long EXCHANGE_IN_STRIDE = 2L * Long.BYTES;
    static final long EXCHANGE_OUT_STRIDE = 3L * Long.BYTES;
    static final long EXCHANGE_BYTES = 4L * Long.BYTES;
    static final long EXCHANGE_SENDERS = 5L * Long.BYTES;
    static final long EXCHANGE_RECEIVERS = 6L * Long.BYTES;
    static final long EXCHANGE_OPERATION = 7L * Long.BYTES;
    static final long EXCHANGE_SIGNATURE = EXCHANGE_OPERATION + Integer.BYTES;

    /** Of {@code struct reduction}. */
    static final StructLayout REDUCTION = words(2 * MOST_RANKS + 3);

    static final long REDUCTION_IN = 0;
    static final long REDUCTION_OUT = POINTERS;
    static final long REDUCTION_BYTES = 2 * POINTERS;
    static final long REDUCTION_OPERATION = REDUCTION_BYTES + Long.BYTES;
    static final long REDUCTION_SIGNATURE = REDUCTION_OPERATION + Integer.BYTES;
    static final long REDUCTION_ALIGNED = REDUCTION_OPERATION + Long.BYTES;

    /** Of {@code struct copies}. */
    static final StructLayout COPIES = words(3 * MOST_RANKS + 1);

    static final long COPIES_FROM = 0;
    static final long COPIES_TO = POINTERS;
    static final long COPIES_BYTES = 2 * POINTERS;
    static final long COPIES_SIGNATURE = 3 * POINTERS;

    /** Of a slot with messages. */
    private final long slotBytes;
    /** Of a slot with vectors that are pushed. */
    private final long pushSlotBytes;

    private final int ranks;

    TeamLayout(int ranks, GpuTeamOptions options) {
        this.ranks = ranks;
        this.slotBytes = 2 * roundUp(options.exchangeBytes(), UNIT);
        this.pushSlotBytes = roundUp(options.pushBytes() / others(ranks), VECTOR);
    }

    /** How many ranks a rank sends to, 1 if it is alone. */
    static int others(int ranks) {
        return Math.max(1, ranks - 1);
    }

    private static long roundUp(long bytes, int unit) {
        return (bytes + unit - 1) / unit * unit;
    }

    private static StructLayout words(int count) {
        return MemoryLayout.structLayout(MemoryLayout.sequenceLayout(count, ValueLayout.JAVA_LONG));
    }

    long slotBytes() {
        return slotBytes;
    }

    long pushSlotBytes() {
        return pushSlotBytes;
    }

    /** Where the progress is, which the rank's own GPU alone uses. */
    long progressOffset() {
        return FLAGS_BYTES + (long) SETS * ranks * (slotBytes + pushSlotBytes);
    }

    long scratchBytes() {
        return progressOffset() + PROGRESS_BYTES;
    }
}
