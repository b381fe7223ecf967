package io.sluice.experts.cuda;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.ValueLayout;

/**
 * What kernels and host have in common: the structures of {@code experts.cuh}, and where the modes have their part of a rank's window,
 * the memory that all other ranks have mapped.
 */
final class BufferLayout {
    static final int MOST_RANKS = 64;

    /** What parts of a window, and rows, begin at multiples of. */
    static final int ALIGNMENT = 256;

    /** Of {@code struct words}, in the host's memory. */
    static final long WORDS_BYTES = 4 * Long.BYTES;

    static final long REVOKED_OFFSET = 0;
    static final long FAILURE_OFFSET = Long.BYTES;
    static final long TOKEN_OFFSET = 2 * Long.BYTES;
    static final long EXPERT_OFFSET = 3 * Long.BYTES;

    /** Of {@code enum failure}: the upper half of a failure; the lower is the rank, and 1. */
    static final int MISSING = 0;

    static final int DIFFERS = 1;
    static final int LEFT = 2;
    static final int NO_EXPERT = 3;
    static final int NAMED_TWICE = 4;
    static final int NOT_DISPATCHED = 5;
    static final int OVERFULL = 6;
    static final int NOT_PREPARED = 7;

    private static final long POINTERS = (long) MOST_RANKS * Long.BYTES;
    /** Of {@code struct buffer}. */
    static final StructLayout BUFFER = words(MOST_RANKS + 3);

    static final long BUFFER_STATE = POINTERS;
    static final long BUFFER_HOST = BUFFER_STATE + Long.BYTES;
    static final long BUFFER_RANK = BUFFER_HOST + Long.BYTES;
    static final long BUFFER_RANKS = BUFFER_RANK + Integer.BYTES;

    // of struct window: a word for each rank that leaves, and struct state
    static final long STATE_OFFSET = POINTERS;
    private static final long HEADER_BYTES = POINTERS + ALIGNMENT;

    /** Where the modes' parts begin. */
    final long lowLatencyOffset;

    final long normalOffset;
    final long windowBytes;

    /**
     * Lays a window out.
     *
     * @param lowLatencyBytes of the low-latency mode, or 0
     * @param normalBytes of normal mode, or 0
     */
    BufferLayout(long lowLatencyBytes, long normalBytes) {
        lowLatencyOffset = HEADER_BYTES;
        normalOffset = align(lowLatencyOffset + lowLatencyBytes);
        windowBytes = align(normalOffset + normalBytes);
    }

    static long align(long offset) {
        return (offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    /** A structure of so many words of 64 bits. */
    static StructLayout words(int count) {
        return MemoryLayout.structLayout(MemoryLayout.sequenceLayout(count, ValueLayout.JAVA_LONG));
    }

    static void putLong(MemorySegment to, long at, long value) {
        to.set(ValueLayout.JAVA_LONG_UNALIGNED, at, value);
    }

    static void putInt(MemorySegment to, long at, int value) {
        to.set(ValueLayout.JAVA_INT_UNALIGNED, at, value);
    }
}
