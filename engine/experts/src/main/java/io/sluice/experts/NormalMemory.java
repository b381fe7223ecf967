package io.sluice.experts;

/**
 * Where things are in the symmetric memory of normal mode; the same on all ranks. First come the words that other ranks add
 * to, a cache line for each rank, then what they write, then what this rank alone uses.
 *
 * <p>Rows of a result lie in one of two slots. Its receiver says which slot a dispatch gets; the messages about that and the
 * counts of tokens have two places, which dispatches use in alternation. A row has a <i>note</i>: which token it is, its
 * choices among all experts and its weights, and the scales of a quantised one.
 */
final class NormalMemory {
    /** The results that may be in use at once, and the places of messages. */
    static final int SLOTS = 2;

    private static final int CACHE_LINE = 64;
    private static final int PAGE = 4096;
    private static final int COUNTS_AT = 2;
    // in an int32
    private static final int EXPONENTS_OF = 4;

    final int ranks;
    final int experts;
    final int localExperts;
    final int hidden;
    final int maxTokens;
    final int topK;
    // where a slot begins, and what lies in it
    private final long countsAt;
    private final long ownCountsAt;
    private final long slotsAt;
    private final long notesInSlot;
    private final long scalesInSlot;
    private final long choicesInSlot;
    private final long weightsInSlot;
    private final long sourcesInSlot;
    private final long slotBytes;
    private final long combineAt;
    private final long codesAt;
    private final long notesAt;
    private final long bytes;

    /**
     * Lays memory out.
     *
     * @throws IllegalArgumentException if the experts cannot be divided among the ranks
     * @throws ArithmeticException if it is too long
     */
    NormalMemory(ExpertOptions options, int ranks) {
        this.ranks = ranks;
        this.experts = options.experts();
        this.localExperts = options.localExperts(ranks);
        this.hidden = options.hidden();
        this.maxTokens = options.maxTokensPerRank();
        this.topK = options.topK();
        long rows = capacity();
        countsAt = (long) ranks * CACHE_LINE;
        ownCountsAt = countsAt + (long) SLOTS * ranks * messageBytes();
        slotsAt = align(ownCountsAt + SLOTS * 2L * messageBytes(), PAGE);
        notesInSlot = align(Math.multiplyExact(rows, rowBytes()), PAGE);
        scalesInSlot = align(notesInSlot + rows * noteStride(), PAGE);
        choicesInSlot = align(scalesInSlot + rows * scalesBytes(), PAGE);
        weightsInSlot = align(choicesInSlot + rows * topK * Long.BYTES, PAGE);
        sourcesInSlot = align(weightsInSlot + rows * topK * Float.BYTES, PAGE);
        slotBytes = align(sourcesInSlot + rows * Integer.BYTES, PAGE);
        combineAt = slotsAt + SLOTS * slotBytes;
        codesAt = align(combineAt + rows * rowBytes(), PAGE);
        notesAt = align(codesAt + (long) maxTokens * hidden, PAGE);
        bytes = align(notesAt + (long) maxTokens * noteStride(), PAGE);
    }

    private static long align(long offset, long alignment) {
        return (offset + alignment - 1) / alignment * alignment;
    }

    /** The length of the whole memory. */
    long bytes() {
        return bytes;
    }

    /** The most rows of a result. */
    int capacity() {
        return Math.multiplyExact(ranks, maxTokens);
    }

    /** The length of a row of bfloat16. */
    long rowBytes() {
        return (long) hidden * Short.BYTES;
    }

    /** The length of a row in a format. */
    long rowBytes(DispatchFormat format) {
        return format.isQuantised() ? hidden : rowBytes();
    }

    /** The length of the scales of a row, as float32. */
    int scalesBytes() {
        return hidden / ExpertOptions.CHANNELS_OF_A_SCALE * Float.BYTES;
    }

    /** The length of the scales of a row, as exponents. */
    int packedScalesBytes() {
        return hidden / EXPONENTS_OF / ExpertOptions.CHANNELS_OF_A_SCALE * Integer.BYTES;
    }

    // ---- words ----

    /** The word that counts the dispatches for which a rank has a slot for this one's rows. */
    long slotGrantedAt(int rank) {
        return wordAt(rank, 0);
    }

    /** The word that counts the dispatches whose counts from a rank are here. */
    long countsArrivedAt(int rank) {
        return wordAt(rank, 1);
    }

    /** The word that counts the dispatches whose rows from a rank are here. */
    long rowsArrivedAt(int rank) {
        return wordAt(rank, 2);
    }

    /** The word that counts the combines that a rank has done, so that its memory may be written again. */
    long combineDoneAt(int rank) {
        return wordAt(rank, 3);
    }

    /** The word that counts the combines whose rows from a rank are here. */
    long combineArrivedAt(int rank) {
        return wordAt(rank, 4);
    }

    /** The word by which a rank says that it calls nothing more. */
    long leftAt(int rank) {
        return wordAt(rank, 5);
    }

    /** Where a rank says what it combines: no word that is added to. */
    long combineNoteAt(int rank) {
        return wordAt(rank, 6);
    }

    private static long wordAt(int rank, int word) {
        return (long) rank * CACHE_LINE + (long) word * Long.BYTES;
    }

    // ---- messages ----

    /** Two numbers, and how many tokens go to each rank. */
    int countsBytes() {
        return (COUNTS_AT + ranks) * Integer.BYTES;
    }

    /** Room for counts, and for the slot after them. */
    private int messageBytes() {
        return (int) align(countsBytes() + Long.BYTES, CACHE_LINE);
    }

    /** Where a rank says what kind of dispatch it has called, of which handle, and how many tokens go where. */
    long countsAt(int place, int rank) {
        return countsAt + ((long) place * ranks + rank) * messageBytes();
    }

    /** Where the number of tokens for a rank lies among counts. */
    int countAt(int rank) {
        return (COUNTS_AT + rank) * Integer.BYTES;
    }

    /** Where a rank says which slot a dispatch has there. */
    long slotNumberAt(int place, int rank) {
        return countsAt(place, rank) + messageBytes() - Long.BYTES;
    }

    /** Where this rank writes what goes to {@link #countsAt} of others. */
    long ownCountsAt(int place) {
        return ownCountsAt + place * 2L * messageBytes();
    }

    /** Where this rank writes what goes to {@link #slotNumberAt} of others. */
    long ownSlotNumberAt(int place) {
        return ownCountsAt(place) + messageBytes();
    }

    /** Where this rank writes what goes to {@link #combineNoteAt} of others. */
    long ownCombineNoteAt() {
        return ownSlotNumberAt(0) + Long.BYTES;
    }

    // ---- rows ----

    long rowsAt(int slot) {
        return slotsAt + slot * slotBytes;
    }

    long rowAt(int slot, int row, DispatchFormat format) {
        return rowsAt(slot) + row * rowBytes(format);
    }

    long notesAt(int slot) {
        return rowsAt(slot) + notesInSlot;
    }

    long noteAt(int slot, int row) {
        return notesAt(slot) + (long) row * noteStride();
    }

    long scalesAt(int slot) {
        return rowsAt(slot) + scalesInSlot;
    }

    long choicesAt(int slot) {
        return rowsAt(slot) + choicesInSlot;
    }

    long weightsAt(int slot) {
        return rowsAt(slot) + weightsInSlot;
    }

    long sourcesAt(int slot) {
        return rowsAt(slot) + sourcesInSlot;
    }

    /** Where the vectors lie that come back from a rank: those of the tokens sent there, in their order. */
    long combineAt(int rank, int index) {
        return combineAt + ((long) rank * maxTokens + index) * rowBytes();
    }

    // ---- what this rank makes of its own tokens ----

    /** The quantised vector of a token. */
    long codesAt(int token) {
        return codesAt + (long) token * hidden;
    }

    /** The note of a token. */
    long noteAt(int token) {
        return notesAt + (long) token * noteStride();
    }

    // ---- notes ----

    int noteStride() {
        return noteScales() + scalesBytes();
    }

    /** The length of a note in a format. */
    int noteBytes(DispatchFormat format) {
        return format.isQuantised() ? noteStride() : noteScales();
    }

    /** Where choice k lies in a note, an int32; the token lies before choice 0. */
    int noteChoice(int k) {
        return Integer.BYTES + k * Integer.BYTES;
    }

    /** Where weight k lies in a note. */
    int noteWeight(int k) {
        return noteChoice(topK) + k * Float.BYTES;
    }

    /** Where the scales lie in a note, as float32. */
    int noteScales() {
        return (int) align(noteWeight(topK), Long.BYTES);
    }
}
