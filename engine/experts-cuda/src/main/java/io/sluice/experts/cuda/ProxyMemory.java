package io.sluice.experts.cuda;

import io.sluice.cuda.PinnedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

/**
 * Where kernels say what the host is to carry: {@code struct proxy} of {@code low_latency.cuh}, in pinned memory.
 *
 * @param layout of the low-latency part of a window
 * @param ranks those that the host carries to, by rank
 * @param buffer the memory
 */
record ProxyMemory(LowLatencyLayout layout, List<ProxiedRank> ranks, PinnedBuffer buffer) {
    /** How many words a call has for each rank: the arrays of {@code struct low_latency_words} that others store. */
    static final int CALLS = 8;

    private static final VarHandle VALUE = ValueLayout.JAVA_LONG.varHandle();
    private static final long ROWS_OFFSET = Long.BYTES;
    private static final long MESSAGES_OFFSET = 2 * Long.BYTES;
    static final long CALL_BYTES = MESSAGES_OFFSET + (long) BufferLayout.MOST_RANKS * Integer.BYTES;
    private static final long PLACES_OFFSET = CALLS * CALL_BYTES;
    private static final int SLOT_BITS = 26;

    /** How much there is to allocate. */
    static long bytes(LowLatencyLayout layout) {
        return PLACES_OFFSET + LowLatencyLayout.SETS * layout.rows() * Long.BYTES;
    }

    /** Gives it back, and the mirrors once no transfer reads them. */
    CompletableFuture<Void> release() {
        List<CompletableFuture<Void>> parts = new ArrayList<>();
        buffer.close();
        parts.add(buffer.released());
        ranks.forEach(each -> parts.add(each.mirror().close()));
        return CompletableFuture.allOf(parts.toArray(CompletableFuture[]::new));
    }

    /** The ranks, ascending. */
    Set<Integer> numbers() {
        Set<Integer> numbers = new TreeSet<>();
        ranks.forEach(each -> numbers.add(each.rank()));
        return Collections.unmodifiableSet(numbers);
    }

    /** Tells kernels of it and of the ranks, in {@code struct shape}. */
    void putInto(MemorySegment shape) {
        long bits = ranks.stream().mapToLong(each -> 1L << each.rank()).reduce(0, (all, bit) -> all | bit);
        LowLatencyLayout.putProxied(shape, bits, buffer.address());
    }

    /** The value of a call's word; what belongs to it is visible. */
    long value(int call) {
        return (long) VALUE.getAcquire(buffer.segment(), call * CALL_BYTES);
    }

    /** How many places there are of a combine. */
    long rows(int call) {
        return buffer.segment().get(ValueLayout.JAVA_LONG, call * CALL_BYTES + ROWS_OFFSET);
    }

    /** How many messages of a dispatch there are for a rank. */
    int messages(int call, int rank) {
        return buffer.segment()
                .get(ValueLayout.JAVA_INT, call * CALL_BYTES + MESSAGES_OFFSET + (long) rank * Integer.BYTES);
    }

    /** Where the result of a row of a combine goes: the rank is {@link #rank} of it, and the slot there {@link #slot}. */
    int place(int set, long row) {
        MemorySegment all = buffer.segment();
        return (int) all.get(ValueLayout.JAVA_LONG, PLACES_OFFSET + (set * layout.rows() + row) * Long.BYTES);
    }

    static int rank(int place) {
        return place >>> SLOT_BITS;
    }

    static int slot(int place) {
        return place & (1 << SLOT_BITS) - 1;
    }
}
