package io.sluice.experts;

/**
 * Where things are in the symmetric memory of the low-latency calls; the same on all ranks. First come the words that
 * other ranks add to, a cache line for each rank, then what they write.
 *
 * <p>There are two sets of everything that is written, which generations use by turns. The slots of dispatch are [local
 * expert][source rank][index], those of combine [token][k].
 */
final class LowLatencyLayout {
    /** Generations use these by turns. */
    static final int SETS = 2;

    /** The header of a message of dispatch: the token's index on its rank, and which of its experts this is for. */
    static final int HEADER_BYTES = 16;

    private static final int CACHE_LINE = 64;
    private static final int PAGE = 4096;

    final int ranks;
    final int localExperts;
    final int hidden;
    final int tokens;
    final int topK;
    private final long countsAt;
    private final long dispatchAt;
    private final long combineAt;
    private final long bytes;

    /**
     * Lays memory out.
     *
     * @throws IllegalArgumentException if the experts cannot be divided among the ranks
     */
    LowLatencyLayout(ExpertOptions options, int ranks) {
        this.ranks = ranks;
        this.localExperts = options.localExperts(ranks);
        this.hidden = options.hidden();
        this.tokens = options.maxTokensPerRank();
        this.topK = options.topK();
        this.countsAt = (long) ranks * CACHE_LINE;
        this.dispatchAt = align(countsAt + (long) SETS * ranks * countsBytes(), PAGE);
        this.combineAt = align(dispatchAt + SETS * dispatchSetBytes(), PAGE);
        this.bytes = combineAt + SETS * combineSetBytes();
    }

    private static long align(long offset, long alignment) {
        return (offset + alignment - 1) / alignment * alignment;
    }

    private long dispatchSetBytes() {
        return Math.multiplyExact((long) localExperts * ranks * tokens, (long) dispatchSlotBytes());
    }

    private long combineSetBytes() {
        return Math.multiplyExact((long) tokens * topK, (long) combineSlotBytes());
    }

    /** The length of the whole memory. */
    long bytes() {
        return bytes;
    }

    /** The most rows of a local expert. */
    int rowsOfExpert() {
        return ranks * tokens;
    }

    /** The number of scales of a token. */
    int scales() {
        return hidden / ExpertOptions.CHANNELS_OF_A_SCALE;
    }

    /** The length of a message of dispatch in a format. */
    int messageBytes(DispatchFormat format) {
        return HEADER_BYTES + (format.isQuantised() ? hidden + scales() * Float.BYTES : hidden * Short.BYTES);
    }

    /** The length of a slot of dispatch: of the longest message. */
    int dispatchSlotBytes() {
        return HEADER_BYTES + Math.max(hidden * Short.BYTES, hidden + scales() * Float.BYTES);
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

    /** The word that counts the dispatches whose messages from a rank are here. */
    long dispatchArrivedAt(int rank) {
        return wordAt(rank, 0);
    }

    /** The word that counts the combines whose messages from a rank are here. */
    long combineArrivedAt(int rank) {
        return wordAt(rank, 1);
    }

    /** The word that counts the dispatches of a set that a rank has taken out of the slots this rank wrote. */
    long dispatchTakenAt(int rank, int set) {
        return wordAt(rank, 2 + set);
    }

    /** The word that counts the combines of a set that a rank has taken out of the slots this rank wrote. */
    long combineTakenAt(int rank, int set) {
        return wordAt(rank, 4 + set);
    }

    /** The word by which a rank says that it has closed its buffer. */
    long leftAt(int rank) {
        return wordAt(rank, 6);
    }

    private static long wordAt(int rank, int word) {
        return (long) rank * CACHE_LINE + (long) word * Long.BYTES;
    }

    /** The length of {@link #countsAt}: a word for each local expert. */
    int countsBytes() {
        return localExperts * Long.BYTES;
    }

    /** Where a rank says how many tokens it has sent to each local expert: generation << 32 | count + 1. */
    long countsAt(int set, int rank) {
        return countsAt + ((long) set * ranks + rank) * countsBytes();
    }

    /** Where a message of dispatch goes. */
    long dispatchSlotAt(int set, int localExpert, int rank, int index) {
        return dispatchAt
                + set * dispatchSetBytes()
                + (((long) localExpert * ranks + rank) * tokens + index) * dispatchSlotBytes();
    }

    /** Where a result of an expert goes, on the token's rank; the slot is token · topK + k. */
    long combineSlotAt(int set, int slot) {
        return combineAt + set * combineSetBytes() + (long) slot * combineSlotBytes();
    }
}
