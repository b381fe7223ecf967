package io.sluice.collectives.link;

import io.sluice.engine.RemoteSignal;

/**
 * Where things are in the region that a rank gives its team; the same on all ranks. First come the words
 * that peers add to, then the slots of messages.
 *
 * <p>A slot holds one message. It begins with the word that counts its messages, so that a short message and its word
 * share a cache line. A short message follows its header at once, all others begin at {@link #LARGE_AT}, where reductions
 * find them aligned.
 */
public final class LinkLayout {
    /** The length of a header. */
    public static final int HEADER_BYTES = 16;

    /** Where a large message begins in its slot. */
    public static final int LARGE_AT = 64;

    /** How many rounds the survivors of a revoked team may need to agree. */
    public static final int AGREEMENT_ROUNDS = 32;

    /** Where the header begins in a slot, after the slot's word. */
    static final int HEADER_AT = RemoteSignal.BYTES;

    private static final int SHORT_AT = HEADER_AT + HEADER_BYTES;
    private static final int LONGEST_SHORT_BYTES = 1 << 10;

    // copying so much costs less than a header of its own, and the wait for an acknowledgement of the peer's
    private static final int MOST_COPIED_BYTES = 64 << 10;
    // the receiver keeps so much of what it does not expect yet
    private static final int MOST_ANNOUNCED_BYTES = 8 << 10;
    // what links copy into takes no more than a fraction of their slots, unless it is short
    private static final int SLOT_OF_A_COPY = 4;
    private static final int RANKS_OF_A_WORD = 48;
    private static final int MOST_SLOTS = 8;
    private static final int LONGEST_CHUNK = 256 << 10;
    private static final int SHORTEST_CHUNK = 1 << 10;
    private static final int ALIGNMENT = 64;
    // revoked, left, maps, broken off
    private static final int PEER_WORDS = 4;

    private final int size;
    private final int channels;
    private final int slots;
    private final int slotBytes;
    private final long freedAt;
    private final long asleepAt;
    private final long wokenAt;
    private final long slotsAt;

    /**
     * Divides memory among links.
     *
     * @param size the number of ranks
     * @param channels the number of channels
     * @param scratchBytes for the slots
     * @throws IllegalArgumentException if that is too little
     */
    public LinkLayout(int size, int channels, long scratchBytes) {
        this.size = size;
        this.channels = channels;
        this.slots = MOST_SLOTS;
        long links = (long) Math.max(1, size - 1) * channels;
        long chunk = Math.min(LONGEST_CHUNK, scratchBytes / (links * slots) - LARGE_AT) / ALIGNMENT * ALIGNMENT;
        if (chunk < SHORTEST_CHUNK) {
            throw new IllegalArgumentException(scratchBytes + " bytes of scratch memory are too few for " + size
                    + " ranks: they need " + links * slots * (SHORTEST_CHUNK + LARGE_AT));
        }
        this.slotBytes = (int) chunk + LARGE_AT;
        this.freedAt = align(wordAt(agreedWords()));
        this.asleepAt = freedAt + size * align(wordAt(channels));
        this.wokenAt = asleepAt + ALIGNMENT;
        this.slotsAt = wokenAt + ALIGNMENT;
    }

    private static long align(long offset) {
        return (offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }

    private static long wordAt(long index) {
        return index * RemoteSignal.BYTES;
    }

    private long agreedWords() {
        return (long) size * (PEER_WORDS + (long) AGREEMENT_ROUNDS * agreementWords());
    }

    /** Returns the number of ranks. */
    public int size() {
        return size;
    }

    /** Returns the number of channels. */
    public int channels() {
        return channels;
    }

    /** Returns the number of slots of a link. */
    int slots() {
        return slots;
    }

    /** Returns the longest message, in bytes; a multiple of 64. */
    public int chunkBytes() {
        return slotBytes - LARGE_AT;
    }

    /** Where a message of so many bytes that travels with its header begins in its slot. */
    static int smallAt(long bytes) {
        return bytes <= LONGEST_SHORT_BYTES ? SHORT_AT : LARGE_AT;
    }

    /** The length of memory out of which a message is sent that is laid out as in its slot. */
    long stageBytes() {
        return LARGE_AT + align(smallBytes());
    }

    /** Returns the longest message that travels with its header, out of a copy, in bytes. */
    public int smallBytes() {
        return Math.clamp(chunkBytes() / SLOT_OF_A_COPY, announcedBytes(), MOST_COPIED_BYTES);
    }

    /** Returns the longest message that is sent with its announcement, whether or not the receiver expects it, in bytes. */
    int announcedBytes() {
        return Math.min(MOST_ANNOUNCED_BYTES, chunkBytes());
    }

    /** Returns the length of the region. */
    public long bytes() {
        return slotsAt + (long) size * channels * slots * slotBytes;
    }

    /** The word by which a peer says that it has revoked the team, and why. */
    public long revokedAt(int peer) {
        return wordAt(peer);
    }

    /** The word by which a peer says that it has left the team. */
    public long leftAt(int peer) {
        return wordAt(size + peer);
    }

    /** The word by which a peer says whether it has mapped the regions of all other ranks: 2 if so, else 1. */
    public long mapsAt(int peer) {
        return wordAt(2L * size + peer);
    }

    /** The word that a peer stores before it ends its collectives with an error, if it has mapped this region. */
    public long brokenOffAt(int peer) {
        return wordAt(3L * size + peer);
    }

    /** The word that says that this rank looks at no slots until it is woken. */
    public long asleepAt() {
        return asleepAt;
    }

    /** The word to which a peer adds to wake this rank. */
    public long wokenAt() {
        return wokenAt;
    }

    /** How many words name a set of ranks. */
    public int agreementWords() {
        return (size + RANKS_OF_A_WORD - 1) / RANKS_OF_A_WORD;
    }

    /** How many ranks a word names. */
    public static int ranksOfAWord() {
        return RANKS_OF_A_WORD;
    }

    /** The word by which a peer gives its part of a set of ranks, in a round of an agreement. */
    public long agreementAt(int peer, int round, int word) {
        return wordAt((long) PEER_WORDS * size + ((long) peer * AGREEMENT_ROUNDS + round) * agreementWords() + word);
    }

    /** The word by which a peer gives back slots of messages that this rank sent it. */
    long freedAt(int peer, int channel) {
        return freedAt + peer * align(wordAt(channels)) + wordAt(channel);
    }

    /** The word that counts the messages in a slot. */
    long arrivedAt(int peer, int channel, int slot) {
        return slotAt(peer, channel, slot);
    }

    /** Where a slot of a peer's messages begins. */
    long slotAt(int peer, int channel, int slot) {
        return slotsAt + (((long) peer * channels + channel) * slots + slot) * slotBytes;
    }
}
