package io.sluice.experts.cuda;

import io.sluice.experts.DispatchFormat;
import io.sluice.experts.ExpertOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/** Where things are in the low-latency part of a window, and the structures of {@code low_latency.cu}; the same on all ranks. */
final class LowLatencyLayout {
    static final int THREADS = 512;
    static final int RESULTS = 2;
    /** A vector that kernels load and store at once. */
    static final int VECTOR = 16;

    /** The channels that share an element of the scales of {@link DispatchFormat#FP8_UE8M0}. */
    static final int CHANNELS_OF_PACKED = 4 * ExpertOptions.CHANNELS_OF_A_SCALE;

    /** For odd and even generations. */
    static final int SETS = 2;

    private static final int HEADER_WORDS = 2;
    private static final int LINE = 128;

    // struct low_latency_words
    private static final long WORDS_BYTES = (4L * SETS * BufferLayout.MOST_RANKS + 2 + 3L * RESULTS) * Long.BYTES;

    /** Of {@code struct shape}. */
    static final StructLayout SHAPE = BufferLayout.words(11);

    private static final long SHAPE_PROXIED = 9L * Long.BYTES;
    private static final long SHAPE_HOST = 10L * Long.BYTES;

    /** Of {@code struct result}. */
    static final StructLayout RESULT = BufferLayout.words(8);

    /** Of {@code struct dispatch}. */
    static final StructLayout DISPATCH = BufferLayout.words(6);

    static final long DISPATCH_X = 0;
    static final long DISPATCH_CHOICES = Long.BYTES;
    static final long DISPATCH_STATISTICS = 2 * Long.BYTES;
    static final long DISPATCH_PATIENCE = 3 * Long.BYTES;
    static final long DISPATCH_TOKENS = 4 * Long.BYTES;
    static final long DISPATCH_FORMAT = DISPATCH_TOKENS + Integer.BYTES;
    static final long DISPATCH_INDEX = 5 * Long.BYTES;

    /** Of {@code struct combine}. */
    static final StructLayout COMBINE = BufferLayout.words(6);

    static final long COMBINE_Y = 0;
    static final long COMBINE_CHOICES = Long.BYTES;
    static final long COMBINE_WEIGHTS = 2 * Long.BYTES;
    static final long COMBINE_OUT = 3 * Long.BYTES;
    static final long COMBINE_PATIENCE = 4 * Long.BYTES;
    static final long COMBINE_TOKENS = 5 * Long.BYTES;
    static final long COMBINE_INDEX = COMBINE_TOKENS + Integer.BYTES;

    final int ranks;
    final int experts;
    final int localExperts;
    final int hidden;
    final int tokens;
    final int topK;
    private final long payloadAt;
    private final long messageBytes;
    // from the part's begin
    private final long countsAt;
    private final long messagesAt;
    private final long slotsAt;
    private final long bytes;

    /**
     * Lays a part out.
     *
     * @throws IllegalArgumentException if the experts cannot be divided among the ranks, or there would be too many rows
     */
    LowLatencyLayout(ExpertOptions options, int ranks) {
        this.ranks = ranks;
        this.experts = options.experts();
        this.localExperts = options.localExperts(ranks);
        this.hidden = options.hidden();
        this.tokens = options.maxTokensPerRank();
        this.topK = options.topK();
        this.payloadAt = align((HEADER_WORDS + (long) topK) * Long.BYTES, LINE);
        this.messageBytes = align(payloadAt + Math.max(rowBytes(), hidden + (long) scales() * Float.BYTES), LINE);
        this.countsAt = BufferLayout.align(WORDS_BYTES);
        this.messagesAt = BufferLayout.align(countsAt + (long) SETS * ranks * (localExperts + 1L) * Integer.BYTES);
        this.slotsAt = BufferLayout.align(messagesAt + (long) SETS * ranks * tokens * messageBytes);
        // the extremes of results in LogFMT lie behind the slots
        this.bytes = slotsAt + (long) SETS * tokens * topK * (rowBytes() + extremesBytes());
        if ((long) rowsOfExpert() * localExperts > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(ranks + " ranks of " + tokens + " tokens are too many for "
                    + localExperts + " experts a rank: at most " + Integer.MAX_VALUE + " rows");
        }
    }

    private static long align(long offset, long alignment) {
        return (offset + alignment - 1) / alignment * alignment;
    }

    /** The length of the part. */
    long bytes() {
        return bytes;
    }

    /** The most rows of a local expert. */
    int rowsOfExpert() {
        return Math.multiplyExact(ranks, tokens);
    }

    /** The most rows of all local experts. */
    long rows() {
        return (long) localExperts * rowsOfExpert();
    }

    /** The length of a token's vector. */
    long rowBytes() {
        return (long) hidden * Short.BYTES;
    }

    /** The number of scales of a token. */
    int scales() {
        return hidden / ExpertOptions.CHANNELS_OF_A_SCALE;
    }

    /** How many blocks of 32 bits scales of a token take in a format. */
    int scaleColumns(DispatchFormat format) {
        return switch (format) {
            case BF16 -> 0;
            case FP8, FP8_ROUNDED -> scales();
            case FP8_UE8M0 -> hidden / CHANNELS_OF_PACKED;
        };
    }

    /** The shared memory of the half of dispatch that receives: where the rows of each expert and rank begin. */
    int startsBytes() {
        return (experts + 1) * Integer.BYTES;
    }

    // ---- places, from the part's begin ----

    /**
     * Where other ranks store a word.
     *
     * @param index of the array among those of {@code struct low_latency_words}
     * @param rank that stores it
     */
    static long wordAt(int index, int rank) {
        return ((long) index * BufferLayout.MOST_RANKS + rank) * Long.BYTES;
    }

    /** Where a rank stores how many tokens it has sent. */
    long countsAt(int set, int source) {
        return countsAt + ((long) set * ranks + source) * countsBytes();
    }

    long countsBytes() {
        return (localExperts + 1L) * Integer.BYTES;
    }

    /** Where a rank's first message is. */
    long messageAt(int set, int source) {
        return messagesAt + ((long) set * ranks + source) * tokens * messageBytes;
    }

    /** From one message to the next. */
    long messageBytes() {
        return messageBytes;
    }

    /** How much of a message is used in a format. */
    long messageBytes(DispatchFormat format) {
        return payloadAt + (format.isQuantised() ? hidden + (long) scales() * Float.BYTES : rowBytes());
    }

    /** Where the result of an expert for a token of this rank comes. */
    long slotAt(int set, int slot) {
        return slotsAt + ((long) set * tokens * topK + slot) * rowBytes();
    }

    /** Where the extremes of a result in LogFMT come, which lie behind the slots of both sets. */
    long extremesAt(int set, int slot) {
        return slotAt(SETS, 0) + ((long) set * tokens * topK + slot) * extremesBytes();
    }

    long extremesBytes() {
        return (long) scales() * Integer.BYTES;
    }

    /** Whether the results behind the word of a combine are in LogFMT. */
    static boolean isLogFmt(long combined) {
        return (combined & 1) != 0;
    }

    /**
     * Says in {@code struct shape} that the host carries to some ranks.
     *
     * @param ranks a bit for each
     * @param host where kernels find {@code struct proxy}
     */
    static void putProxied(MemorySegment shape, long ranks, long host) {
        BufferLayout.putLong(shape, SHAPE_PROXIED, ranks);
        BufferLayout.putLong(shape, SHAPE_HOST, host);
    }

    /** Writes {@code struct shape}, of a part that begins so far into the window. */
    void putShape(MemorySegment to, long partAt) {
        long[] words = {partAt, partAt + countsAt, partAt + messagesAt, messageBytes, payloadAt, partAt + slotsAt};
        for (int i = 0; i < words.length; i++) {
            BufferLayout.putLong(to, (long) i * Long.BYTES, words[i]);
        }
        int[] numbers = {experts, localExperts, hidden, tokens, topK};
        for (int i = 0; i < numbers.length; i++) {
            BufferLayout.putInt(to, (long) words.length * Long.BYTES + (long) i * Integer.BYTES, numbers[i]);
        }
    }
}
