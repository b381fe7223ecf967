package io.sluice.samples.compare;

/** Sizes that are compared, in bytes, and how many are in flight if nothing else is said. */
final class Sizes {
    static final long WORD = 8;
    static final long KIB = 1L << 10;
    static final long PAGE = 4 * KIB;
    static final long BLOCK = 64 * KIB;
    static final long MIB = 1L << 20;
    static final long LARGEST = 16 * MIB;

    static final int IN_FLIGHT = 32;

    private Sizes() {}
}
