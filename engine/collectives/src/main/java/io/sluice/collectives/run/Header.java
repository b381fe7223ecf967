package io.sluice.collectives.run;

/**
 * The first word of a header: kind, type, operation and algorithm, a byte each, the root in 16 bits, and the lowest 16
 * bits of the collective's number. The second word is the count that both ranks of a link must agree on.
 */
public final class Header {
    private static final long ROOT_SHIFT = 16;
    private static final long NUMBER_MASK = 0xFFFF;

    private Header() {}

    /** Returns the word without a number. */
    public static long of(int kind, int type, int operation, int algorithm, int root) {
        return (long) kind << 56
                | (long) type << 48
                | (long) operation << 40
                | (long) algorithm << 32
                | (root & NUMBER_MASK) << ROOT_SHIFT;
    }

    /** Returns the kind's code. */
    public static int kind(long header) {
        return (int) (header >>> 56) & 0xFF;
    }

    /** Returns the type's code. */
    public static int type(long header) {
        return (int) (header >>> 48) & 0xFF;
    }

    /** Returns the operation's code. */
    public static int operation(long header) {
        return (int) (header >>> 40) & 0xFF;
    }

    /** Returns the algorithm's code. */
    public static int algorithm(long header) {
        return (int) (header >>> 32) & 0xFF;
    }

    /** Returns the root. */
    public static int root(long header) {
        return (int) (header >>> ROOT_SHIFT & NUMBER_MASK);
    }

    /** Returns the lowest bits of the collective's number. */
    public static int number(long header) {
        return (int) (header & NUMBER_MASK);
    }

    static long numbered(long header, long number) {
        return (header & ~NUMBER_MASK) | (number & NUMBER_MASK);
    }
}
