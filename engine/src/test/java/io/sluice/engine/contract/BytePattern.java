package io.sluice.engine.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.MemoryRegion;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** Bytes that differ from place to place and from seed to seed, so that what is moved to a wrong place shows. */
final class BytePattern {
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private BytePattern() {}

    static void fill(MemorySegment segment, long seed) {
        long words = segment.byteSize() & ~7L;
        for (long at = 0; at < words; at += 8) {
            segment.set(WORD, at, word(seed, at));
        }
        for (long at = words; at < segment.byteSize(); at++) {
            segment.set(ValueLayout.JAVA_BYTE, at, at(seed, at));
        }
    }

    static MemoryRegion filled(MemoryRegion region, long seed) {
        fill(region.segment(), seed);
        return region;
    }

    static byte at(long seed, long index) {
        return (byte) (word(seed, index & ~7L) >>> (8 * (index & 7)));
    }

    /** The eight bytes from any index on. */
    private static long wordAt(long seed, long index) {
        long begin = index & ~7L;
        int shift = (int) (index - begin) * 8;
        long word = word(seed, begin);
        return shift == 0 ? word : (word >>> shift) | (word(seed, begin + 8) << (64 - shift));
    }

    private static long word(long seed, long index) {
        long mixed = (seed * 0x9E3779B97F4A7C15L) ^ ((index + 1) * 0xD1B54A32D192ED03L);
        mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
        return mixed ^ (mixed >>> 31);
    }

    /** Checks a segment against the pattern that began {@code from} bytes before it. */
    static void assertFilled(MemorySegment segment, long seed, long from) {
        long index = 0;
        // Gigabytes are checked so, and where code runs slowly megabytes are many.
        while (index + 8 <= segment.byteSize() && segment.get(WORD, index) == wordAt(seed, from + index)) {
            index += 8;
        }
        for (; index < segment.byteSize(); index++) {
            byte expected = at(seed, from + index);
            byte actual = segment.get(ValueLayout.JAVA_BYTE, index);
            if (actual != expected) {
                assertThat(actual)
                        .as("byte %d of %d, pattern %d from %d", index, segment.byteSize(), seed, from)
                        .isEqualTo(expected);
            }
        }
    }

    static void assertFilled(MemoryRegion region, long seed) {
        assertFilled(region.segment(), seed, 0);
    }

    static void assertAll(MemorySegment segment, byte value, String what) {
        long word = 0x0101010101010101L * (value & 0xFF);
        long index = 0;
        while (index + 8 <= segment.byteSize() && segment.get(WORD, index) == word) {
            index += 8;
        }
        for (; index < segment.byteSize(); index++) {
            byte actual = segment.get(ValueLayout.JAVA_BYTE, index);
            if (actual != value) {
                assertThat(actual)
                        .as("%s: byte %d of %d", what, index, segment.byteSize())
                        .isEqualTo(value);
            }
        }
    }

    static void assertSame(MemorySegment actual, MemorySegment expected) {
        assertThat(actual.byteSize()).isEqualTo(expected.byteSize());
        assertThat(actual.mismatch(expected))
                .as("the first byte that differs, -1 for none")
                .isEqualTo(-1);
    }

    static int checksum(MemorySegment segment) {
        CRC32C checksum = new CRC32C();
        long step = 1 << 20;
        for (long at = 0; at < segment.byteSize(); at += step) {
            checksum.update(
                    segment.asSlice(at, Math.min(step, segment.byteSize() - at)).asByteBuffer());
        }
        return (int) checksum.getValue();
    }
}
