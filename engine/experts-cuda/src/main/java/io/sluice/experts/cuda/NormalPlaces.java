package io.sluice.experts.cuda;

import io.sluice.cuda.KernelArguments;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.ExpertOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/** Where things are in normal mode's part of a window, in layouts and in handles, and the structures of {@code normal.cu}. */
final class NormalPlaces {
    /** The results that may be open at once. */
    static final int SLOTS = 2;

    static final int LAYOUT_THREADS = 1024;
    static final int DISPATCH_THREADS = 768;
    static final int COMBINE_THREADS = 1024;

    /** Of {@code struct layout}. */
    static final StructLayout LAYOUT = BufferLayout.words(3);

    static final long LAYOUT_CHOICES = 0;
    static final long LAYOUT_TO = Long.BYTES;
    static final long LAYOUT_TOKENS = 2L * Long.BYTES;

    /** Of {@code struct dispatch}. */
    static final StructLayout DISPATCH = BufferLayout.words(9);

    static final long DISPATCH_X = 0;
    static final long DISPATCH_CHOICES = Long.BYTES;
    static final long DISPATCH_WEIGHTS = 2L * Long.BYTES;
    static final long DISPATCH_TO = 3L * Long.BYTES;
    static final long DISPATCH_HANDLE = 4L * Long.BYTES;
    static final long DISPATCH_SUMMARY = 5L * Long.BYTES;
    static final long DISPATCH_PATIENCE = 6L * Long.BYTES;
    static final long DISPATCH_TOKENS = 7L * Long.BYTES;
    static final long DISPATCH_SLOT = DISPATCH_TOKENS + Integer.BYTES;
    static final long DISPATCH_WORST = DISPATCH_SLOT + Integer.BYTES;
    static final long DISPATCH_ALIGNMENT = DISPATCH_WORST + Integer.BYTES;

    /** Of {@code struct combine}. */
    static final StructLayout COMBINE = BufferLayout.words(7);

    static final long COMBINE_Y = 0;
    static final long COMBINE_BIAS = Long.BYTES;
    static final long COMBINE_OUT = 2L * Long.BYTES;
    static final long COMBINE_HANDLE = 3L * Long.BYTES;
    static final long COMBINE_ROWS = 4L * Long.BYTES;
    static final long COMBINE_PATIENCE = 5L * Long.BYTES;
    static final long COMBINE_TOKENS = 6L * Long.BYTES;
    static final long COMBINE_SENDERS = COMBINE_TOKENS + Integer.BYTES;

    private static final int SIZES = 4;
    private static final int PLACES = 13;
    private static final long PLACES_OFFSET = BufferLayout.BUFFER.byteSize();
    private static final long SIZES_OFFSET = PLACES_OFFSET + (long) PLACES * Long.BYTES;

    /** Of {@code struct normal}, which begins with {@code struct buffer}. */
    static final StructLayout NORMAL =
            BufferLayout.words((int) (SIZES_OFFSET / Long.BYTES) + SIZES * Integer.BYTES / Long.BYTES);

    private static final int MOST_BLOCKS = GpuExpertOptions.MOST_BLOCKS;
    private static final int PLACES_OF_WORDS = 2;
    private static final int WORDS_BEFORE_COUNTS = 3;
    private static final int ROWS_OF_PIECE = 2;
    private static final int PROGRESS_BYTES = 16;
    // of struct routes and struct route_handle, before their arrays of int32
    private static final int ROUTES_INTS = 4;
    private static final int HANDLE_INTS = 8;
    private static final int SUMMARY_INTS = 2;
    private static final int EXPONENTS_OF_INT = 4;

    final int ranks;
    final int experts;
    final int hidden;
    final int maxTokens;
    final int topK;
    private final long at;
    private final long wordsAt;
    private final long doneAt;
    private final long arrivedAt;
    private final long countsAt;
    private final long slotsAt;
    private final long combinedAt;
    private final long slotBytes;
    private final long scalesInSlot;
    private final long choicesInSlot;
    private final long weightsInSlot;
    private final long sourcesInSlot;
    private final long countsInSlot;
    private final long end;

    /**
     * Lays the part out.
     *
     * @param at where it begins in a window
     * @throws ArithmeticException if it is too long
     */
    NormalPlaces(ExpertOptions options, int ranks, long at) {
        this.ranks = ranks;
        this.experts = options.localExperts(ranks);
        this.hidden = options.hidden();
        this.maxTokens = options.maxTokensPerRank();
        this.topK = options.topK();
        this.at = at;
        long rows = capacity();
        wordsAt = BufferLayout.align(at + PROGRESS_BYTES);
        doneAt = BufferLayout.align(
                wordsAt + (long) PLACES_OF_WORDS * ranks * (ranks + WORDS_BEFORE_COUNTS) * Long.BYTES);
        arrivedAt = BufferLayout.align(doneAt + (long) ranks * MOST_BLOCKS * Long.BYTES);
        long pieces = Math.ceilDiv(maxTokens, ROWS_OF_PIECE);
        countsAt = BufferLayout.align(arrivedAt + (ranks - 1) * pieces * Long.BYTES);
        slotsAt = BufferLayout.align(countsAt + (long) ranks * experts * Integer.BYTES);
        scalesInSlot = BufferLayout.align(Math.multiplyExact(rows, rowBytes()));
        choicesInSlot = BufferLayout.align(scalesInSlot + rows * scalesBytes());
        weightsInSlot = BufferLayout.align(choicesInSlot + rows * topK * Long.BYTES);
        sourcesInSlot = BufferLayout.align(weightsInSlot + rows * topK * Float.BYTES);
        countsInSlot = BufferLayout.align(sourcesInSlot + rows * Integer.BYTES);
        slotBytes = BufferLayout.align(countsInSlot + (long) experts * Integer.BYTES);
        combinedAt = slotsAt + SLOTS * slotBytes;
        end = BufferLayout.align(combinedAt + (ranks - 1L) * maxTokens * rowBytes());
    }

    /** How long the part is. */
    long bytes() {
        return end - at;
    }

    /** The most rows of a result. */
    int capacity() {
        return Math.multiplyExact(ranks, maxTokens);
    }

    /** The length of a row of bfloat16. */
    long rowBytes() {
        return (long) hidden * Short.BYTES;
    }

    private long scalesBytes() {
        return (long) hidden / ExpertOptions.CHANNELS_OF_A_SCALE * Float.BYTES;
    }

    // ---- a result, in the window ----

    long rowsAt(int slot) {
        return slotsAt + slot * slotBytes;
    }

    long rowsLength(DispatchFormat format) {
        return capacity() * (format.isQuantised() ? hidden : rowBytes());
    }

    long scalesAt(int slot) {
        return rowsAt(slot) + scalesInSlot;
    }

    long scalesLength(DispatchFormat format) {
        return capacity() * scalesBytes() / (format == DispatchFormat.FP8_UE8M0 ? EXPONENTS_OF_INT : 1);
    }

    long choicesAt(int slot) {
        return rowsAt(slot) + choicesInSlot;
    }

    long choicesLength() {
        return (long) capacity() * topK * Long.BYTES;
    }

    long weightsAt(int slot) {
        return rowsAt(slot) + weightsInSlot;
    }

    long weightsLength() {
        return (long) capacity() * topK * Float.BYTES;
    }

    long sourcesAt(int slot) {
        return rowsAt(slot) + sourcesInSlot;
    }

    long sourcesLength() {
        return (long) capacity() * Integer.BYTES;
    }

    long countsAt(int slot) {
        return rowsAt(slot) + countsInSlot;
    }

    long countsLength() {
        return (long) experts * Integer.BYTES;
    }

    // ---- a layout ----

    long layoutBytes() {
        return positionsAt() + positionsLength();
    }

    long toRanksAt() {
        return (long) ROUTES_INTS * Integer.BYTES;
    }

    long toExpertsAt() {
        return toRanksAt() + (long) ranks * Integer.BYTES;
    }

    long positionsAt() {
        return toExpertsAt() + (long) ranks * experts * Integer.BYTES;
    }

    long positionsLength() {
        return (long) maxTokens * ranks * Integer.BYTES;
    }

    // ---- a handle ----

    long handleBytes() {
        return (HANDLE_INTS + 3L * ranks + experts) * Integer.BYTES + positionsLength();
    }

    // ---- what the host is told of a result, in int32 ----

    long summaryBytes() {
        return BufferLayout.align((SUMMARY_INTS + 2L * ranks + experts) * Integer.BYTES);
    }

    int summaryFirstRow(int rank) {
        return SUMMARY_INTS + rank;
    }

    int summaryRows(int rank) {
        return SUMMARY_INTS + ranks + rank;
    }

    int summaryCount(int expert) {
        return SUMMARY_INTS + 2 * ranks + expert;
    }

    // ---- struct normal ----

    /** Sets the parameter {@code struct normal} of a kernel. */
    void put(BufferCore core, KernelArguments arguments, int index) {
        core.putBuffer(arguments, index);
        MemorySegment to = arguments.value(index);
        long[] places = {
            at,
            wordsAt,
            doneAt,
            arrivedAt,
            countsAt,
            slotsAt,
            combinedAt,
            slotBytes,
            scalesInSlot,
            choicesInSlot,
            weightsInSlot,
            sourcesInSlot,
            countsInSlot
        };
        for (int i = 0; i < PLACES; i++) {
            BufferLayout.putLong(to, PLACES_OFFSET + (long) i * Long.BYTES, places[i]);
        }
        int[] sizes = {experts, hidden, maxTokens, topK};
        for (int i = 0; i < SIZES; i++) {
            BufferLayout.putInt(to, SIZES_OFFSET + (long) i * Integer.BYTES, sizes[i]);
        }
    }
}
