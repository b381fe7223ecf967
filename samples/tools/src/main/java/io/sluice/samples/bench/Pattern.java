package io.sluice.samples.bench;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Bytes that are told from others: each eight are different, and different with another seed. */
final class Pattern {
    private Pattern() {}

    static void fill(MemorySegment memory, long seed) {
        long words = memory.byteSize() / Long.BYTES;
        long base = mix(seed);
        for (long i = 0; i < words; i++) {
            memory.set(ValueLayout.JAVA_LONG_UNALIGNED, i * Long.BYTES, mix(base + i));
        }
        long last = mix(base + words);
        for (long at = words * Long.BYTES; at < memory.byteSize(); at++) {
            memory.set(ValueLayout.JAVA_BYTE, at, (byte) (last >>> (8 * (at % Long.BYTES))));
        }
    }

    static long mix(long value) {
        long z = (value + 1) * 0x9E3779B97F4A7C15L;
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        return z ^ (z >>> 31);
    }
}
