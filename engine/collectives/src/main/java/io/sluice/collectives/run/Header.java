package io.sluice.collectives.run;

/**
 * The first word of a header. From the highest bits on: kind and algorithm in 6 bits each, type and operation in 5
 * each, the root in 10, the lowest 12 bits of the collective's number, and in 20 bits the history: what follows from
 * all collectives that the rank has called before, and from the channel. So ranks whose calls differ find it with the
 * next message between any two of them, though the messages of these calls may never be looked at. The second word is
 * the count that both ranks of a link must agree on.
 */
public final class Header {
    private static final int KIND_SHIFT = 58;
    private static final int ALGORITHM_SHIFT = 52;
    private static final int TYPE_SHIFT = 47;
    private static final int OPERATION_SHIFT = 42;
    private static final int ROOT_SHIFT = 32;
    private static final int NUMBER_SHIFT = 20;
    private static final int SIX_BITS = 0x3F;
    private static final int FIVE_BITS = 0x1F;
    private static final int ROOT_MASK = 0x3FF;
    private static final int NUMBER_MASK = 0xFFF;
    private static final int HISTORY_MASK = 0xF_FFFF;
    // odd, so that different histories stay different
    private static final int STEP = 0x9E375;
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

    private Header() {}

    /**
     * Returns the word without number and history.
     *
     * @throws IllegalArgumentException if a code has more bits than its place
     */
    public static long of(int kind, int type, int operation, int algorithm, int root) {
        int unplaced = ((kind | algorithm) & ~SIX_BITS) | ((type | operation) & ~FIVE_BITS) | (root & ~ROOT_MASK);
        if (unplaced != 0) {
            throw new IllegalArgumentException("no header holds kind " + kind + ", type " + type + ", operation "
                    + operation + ", algorithm " + algorithm + ", root " + root);
        }
        return (long) kind << KIND_SHIFT
                | (long) algorithm << ALGORITHM_SHIFT
                | (long) type << TYPE_SHIFT
                | (long) operation << OPERATION_SHIFT
                | (long) root << ROOT_SHIFT;
    }

    /** Returns the kind's code. */
    public static int kind(long header) {
        return (int) (header >>> KIND_SHIFT) & SIX_BITS;
    }

    /** Returns the type's code. */
    public static int type(long header) {
        return (int) (header >>> TYPE_SHIFT) & FIVE_BITS;
    }

    /** Returns the operation's code. */
    public static int operation(long header) {
        return (int) (header >>> OPERATION_SHIFT) & FIVE_BITS;
    }

    /** Returns the algorithm's code. */
    public static int algorithm(long header) {
        return (int) (header >>> ALGORITHM_SHIFT) & SIX_BITS;
    }

    /** Returns the root. */
    public static int root(long header) {
        return (int) (header >>> ROOT_SHIFT) & ROOT_MASK;
    }

    /** Returns the lowest bits of the collective's number. */
    public static int number(long header) {
        return (int) (header >>> NUMBER_SHIFT) & NUMBER_MASK;
    }

    /** Returns whether two words differ in their histories at most. */
    public static boolean isSameCall(long one, long other) {
        return ((one ^ other) & ~(long) HISTORY_MASK) == 0;
    }

    /** By how much a number exceeds that of a header, in their lowest bits. */
    static int behind(long header, long number) {
        return (int) (number - number(header)) & NUMBER_MASK;
    }

    /** The word of a call with its number and what was called before. */
    static long numbered(long header, long number, int history) {
        return header | (number & NUMBER_MASK) << NUMBER_SHIFT | history;
    }

    /** The history for a call on a channel: ranks that do not prepare alike may use different ones, and never meet. */
    static int onChannel(int history, int channel) {
        return history + channel * STEP & HISTORY_MASK;
    }

    /**
     * The history after a call. Of two that differ in their roots alone it differs surely; of others almost surely.
     *
     * @param before the history up to the call
     */
    static int history(int before, long header, long count) {
        long root = root(header);
        long rest = header >>> ROOT_SHIFT ^ root;
        long mixed = (rest * SPREAD ^ count) * SPREAD;
        return (int) (before * (long) STEP + (((mixed ^ mixed >>> ROOT_SHIFT) & HISTORY_MASK) ^ root)) & HISTORY_MASK;
    }
}
