package io.sluice.samples.kvcache;

/** The finaliser of SplitMix64. */
final class SplitMix {

    private SplitMix() {}

    /** A bijection in which every input bit affects every output bit. */
    static long mix(long value) {
        long mixed = value + 0x9E3779B97F4A7C15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
        return mixed ^ (mixed >>> 31);
    }
}
