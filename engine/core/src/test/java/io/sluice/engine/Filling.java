package io.sluice.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Bytes that differ from place to place, so that misplaced bytes show. */
public final class Filling {
    private Filling() {}

    public static byte at(long seed, long index) {
        long mixed = (seed * 0x9E3779B97F4A7C15L) ^ ((index + 1) * 0xD1B54A32D192ED03L);
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
        return (byte) (mixed ^ (mixed >>> 31));
    }

    public static byte[] bytes(long seed, int from, int count) {
        byte[] bytes = new byte[count];
        for (int i = 0; i < count; i++) {
            bytes[i] = at(seed, from + i);
        }
        return bytes;
    }

    public static void fill(MemorySegment segment, long seed) {
        for (long i = 0; i < segment.byteSize(); i++) {
            segment.set(ValueLayout.JAVA_BYTE, i, at(seed, i));
        }
    }

    /** Checks a part of a segment that was filled as a whole. */
    public static void assertFilled(MemorySegment whole, long seed, long from, long to) {
        for (long i = from; i < to; i++) {
            if (whole.get(ValueLayout.JAVA_BYTE, i) != at(seed, i)) {
                assertThat(whole.get(ValueLayout.JAVA_BYTE, i))
                        .as("byte %d of %d, filled with %d", i, whole.byteSize(), seed)
                        .isEqualTo(at(seed, i));
            }
        }
    }
}
