package io.sluice.experts;

/**
 * Where things are in the symmetric memory of the low-latency calls; the same on all ranks. First come the words that other
 * ranks add to, a cache line for each rank. There are two sets of everything else, for odd and even generations.
 *
 * <p>A rank packs each of its tokens once, into its stage. For each other rank it has a list of what goes there: how many
 * tokens to each local expert, which, and for which of their k. A rank that has mapped the stage copies tokens out of it. Into
 * the memory of others each token is written once, however many of their experts get it: few of them behind the list, so
 * that one put brings all, more to slots [source rank][token]. The slots of combine are [token][k]; few results come together
 * as well.
 */
final class LowLatencyLayout {
    /** For odd and for even generations. */
    static final int SETS = 2;

    /** A rank has closed its buffer. */
    static final long CLOSED = 1;

    /** The buffer of a rank has failed, for a reason that the others see as well. */
    static final long FAILED = 2;

    /** Of the batches of puts, the first of those of combine. */
    static final int COMBINE_BATCHES = SETS;

    /** The beginning of a message of dispatch; the token's index on its rank comes first. */
    static final int HEADER_BYTES = 16;

    /** The note of a combine: a word that says what it is, and how many bytes the results of the rank have taken. */
    static final int NOTE_BYTES = 2 * Long.BYTES;

    // more costs more to copy than a put and its acknowledgement take
    private static final int RESULTS_TOGETHER_BYTES = 128 << 10;
    private static final int MESSAGES_TOGETHER_BYTES = 64 << 10;
    private static final int VECTOR = 16;
    private static final int CACHE_LINE = 64;
    private static final int PAGE = 4096;
    // payloads begin with a cache line
    private static final int BEFORE_MESSAGES = CACHE_LINE - HEADER_BYTES;

    final int ranks;
    final int localExperts;
    final int hidden;
    final int tokens;
    final int topK;

    /** The most tokens of a rank for one rank, once for each expert. */
    final int mostListed;

    /** The most results that are put together. */
    final int mostResultsTogether;

    private final long listBytes;
    private final long listsAt;
    private final long outboundAt;
    private final long returnsAt;
    private final long outboundReturnsAt;
    private final long stageAt;
    private final long combineAt;
    private final long windowBytes;

    /**
     * Lays memory out.
     *
     * @throws IllegalArgumentException if the experts cannot be divided among the ranks, or memory has no such length
     */
    LowLatencyLayout(ExpertOptions options, int ranks) {
        this.ranks = ranks;
        this.localExperts = options.localExperts(ranks);
        this.hidden = options.hidden();
        this.tokens = options.maxTokensPerRank();
        this.topK = options.topK();
        this.mostListed = tokens * Math.min(topK, localExperts);
        this.mostResultsTogether = Math.min(mostListed, RESULTS_TOGETHER_BYTES / rowBytes());
        this.listBytes = align(
                Math.max(combineSlotIn(mostListed), messageIn(mostTogether()) + MESSAGES_TOGETHER_BYTES), CACHE_LINE);
        this.listsAt = align((long) ranks * CACHE_LINE, PAGE);
        this.outboundAt = listsAt + (long) SETS * ranks * listBytes;
        this.returnsAt = align(outboundAt + (long) SETS * ranks * listBytes, PAGE);
        this.outboundReturnsAt = returnsAt + (long) SETS * ranks * returnsBytes();
        this.stageAt = align(outboundReturnsAt + (long) SETS * ranks * returnsBytes(), PAGE) + BEFORE_MESSAGES;
        this.combineAt = align(stageAt + (long) SETS * tokens * slotStride(), PAGE);
        this.windowBytes = combineAt + (long) SETS * tokens * topK * combineSlotBytes();
        if ((long) rowsOfExpert() * localExperts > Integer.MAX_VALUE) {
            throw new IllegalArgumentException(ranks + " ranks of " + tokens + " tokens are too many for "
                    + localExperts + " experts a rank: at most " + Integer.MAX_VALUE + " rows");
        }
    }

    private static long align(long offset, long alignment) {
        return (offset + alignment - 1) / alignment * alignment;
    }

    /** The length of the memory that all ranks need. */
    long windowBytes() {
        return windowBytes;
    }

    /** The length of the slots of dispatch, which ranks need that are not all mapped. */
    long slotsBytes() {
        return BEFORE_MESSAGES + (long) SETS * ranks * tokens * slotStride();
    }

    /** The length of a result's memory without that for zero copies. */
    long resultBytes() {
        return (long) rows() * (hidden * Short.BYTES + scales() * Float.BYTES + 2L * Integer.BYTES);
    }

    /** About what a rank takes in all. */
    long bytes() {
        return windowBytes() + slotsBytes() + SETS * resultBytes();
    }

    /** The most rows of a local expert. */
    int rowsOfExpert() {
        return ranks * tokens;
    }

    /** The most rows of all local experts. */
    int rows() {
        return localExperts * rowsOfExpert();
    }

    /** The number of scales of a token. */
    int scales() {
        return hidden / ExpertOptions.CHANNELS_OF_A_SCALE;
    }

    /** The length of a message of dispatch in a format. */
    int messageBytes(DispatchFormat format) {
        return HEADER_BYTES + (format.isQuantised() ? hidden + scales() * Float.BYTES : hidden * Short.BYTES);
    }

    /** The most messages of any format that are put together with a list. */
    int mostTogether() {
        return Math.max(mostTogether(DispatchFormat.BF16), mostTogether(DispatchFormat.FP8));
    }

    /** The most messages that are put together with a list. */
    int mostTogether(DispatchFormat format) {
        return Math.min(tokens, MESSAGES_TOGETHER_BYTES / messageBytes(format));
    }

    /** The length of the longest message of dispatch. */
    private int slotBytes() {
        return HEADER_BYTES + Math.max(hidden * Short.BYTES, hidden + scales() * Float.BYTES);
    }

    /** From one slot of dispatch, or packed token, to the next. */
    int slotStride() {
        return (int) align(slotBytes(), CACHE_LINE);
    }

    /** The length of a slot of combine: of the longest message. */
    int combineSlotBytes() {
        return hidden * Short.BYTES + scales() * Integer.BYTES;
    }

    /** Which set a generation uses; the first is generation 1. */
    static int set(long generation) {
        return (int) (generation & 1);
    }

    /** How many generations before this one have used its set. */
    static long before(long generation) {
        return (generation - 1) / SETS;
    }

    // ---- words ----

    /** Counts the dispatches of a rank that are here. */
    static long dispatchArrivedAt(int rank) {
        return wordAt(rank, 0);
    }

    /** Counts the combines of a rank that are here. */
    static long combineArrivedAt(int rank) {
        return wordAt(rank, 1);
    }

    /** Counts the dispatches of a set that a rank has received: what this rank has staged and listed may be overwritten. */
    static long dispatchTakenAt(int rank, int set) {
        return wordAt(rank, 2 + set);
    }

    /** Counts the combines of a set that a rank has received: its slots may be overwritten. */
    static long combineTakenAt(int rank, int set) {
        return wordAt(rank, 4 + set);
    }

    /** A rank that makes no more calls adds to it {@link #CLOSED} or {@link #FAILED}, or both. */
    static long leftAt(int rank) {
        return wordAt(rank, 6);
    }

    private static long wordAt(int rank, int word) {
        return (long) rank * CACHE_LINE + (long) word * Long.BYTES;
    }

    // ---- lists ----

    /** The length of a list: a word for the format, one for each local expert, the slots of combine, and few messages. */
    long listBytes() {
        return listBytes;
    }

    /** Where a rank says what it has for this one. */
    long listAt(int set, int rank) {
        return listsAt + ((long) set * ranks + rank) * listBytes;
    }

    /** Where this rank writes down what it has for another, to be put there. */
    long outboundAt(int set, int rank) {
        return outboundAt + ((long) set * ranks + rank) * listBytes;
    }

    /** Where a list has the number of tokens for a local expert: {@code generation << 32 | count + 1}. */
    static long countIn(int localExpert) {
        return (localExpert + 1L) * Long.BYTES;
    }

    /** Where a list has an element's slot of combine, ordered by expert: token · topK + k. */
    long combineSlotIn(int index) {
        return (localExperts + 1L) * Long.BYTES + (long) index * Integer.BYTES;
    }

    /** Where the first of so many messages is that come together with a list. */
    long messageIn(int messages) {
        return align(combineSlotIn(Math.min(messages * topK, mostListed)), VECTOR);
    }

    // ---- messages ----

    private long returnsBytes() {
        return CACHE_LINE + align((long) mostResultsTogether * rowBytes(), CACHE_LINE);
    }

    /** Where a rank says what it combines, before few results that come together. */
    long combineNoteAt(int set, int rank) {
        return returnsAt + ((long) set * ranks + rank) * returnsBytes();
    }

    /** Where this rank writes down what it combines for another, to be put there. */
    long outboundNoteAt(int set, int rank) {
        return outboundReturnsAt + ((long) set * ranks + rank) * returnsBytes();
    }

    /** The length of a note and of so many results behind it. */
    long togetherBytes(int rows) {
        return CACHE_LINE + (long) rows * rowBytes();
    }

    /** The length of a token's vector. */
    int rowBytes() {
        return hidden * Short.BYTES;
    }

    /** Where few results of a rank's experts come together. */
    long returnsAt(int set, int rank) {
        return combineNoteAt(set, rank) + CACHE_LINE;
    }

    /** Where this rank collects few results for another, to be put there. */
    long outboundReturnsAt(int set, int rank) {
        return outboundNoteAt(set, rank) + CACHE_LINE;
    }

    /** Where a rank has packed a token. */
    long stageAt(int set, int token) {
        return stageAt + ((long) set * tokens + token) * slotStride();
    }

    /** Where a token of a rank is written, in the memory of the slots. */
    long slotAt(int set, int rank, int token) {
        return BEFORE_MESSAGES + (((long) set * ranks + rank) * tokens + token) * slotStride();
    }

    /** Where a result of an expert is written, on the token's rank. */
    long combineSlotAt(int set, int slot) {
        return combineAt + ((long) set * tokens * topK + slot) * combineSlotBytes();
    }
}
