package io.sluice.engine.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.CRC32C;

/** Bytes that differ from place to place and from seed to seed, so that misplaced bytes show. */
final class BytePattern {
    private static final ValueLayout.OfLong WORD = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private BytePattern() {}

    static void fill(ContractBytes bytes, long seed) {
        long most = Math.min(ContractBytes.PIECE_BYTES, bytes.length());
        MemorySegment piece = MemorySegment.ofArray(new byte[(int) most]);
        for (long at = 0; at < bytes.length(); at += piece.byteSize()) {
            MemorySegment part = piece.asSlice(0, Math.min(piece.byteSize(), bytes.length() - at));
            fill(part, seed, at);
            bytes.write(at, part);
        }
    }

    /** Fills with the pattern that began {@code from} bytes before, a multiple of 8. */
    private static void fill(MemorySegment segment, long seed, long from) {
        long words = segment.byteSize() & ~7L;
        for (long at = 0; at < words; at += 8) {
            segment.set(WORD, at, word(seed, from + at));
        }
        for (long at = words; at < segment.byteSize(); at++) {
            segment.set(ValueLayout.JAVA_BYTE, at, at(seed, from + at));
        }
    }

    /** Fills with one number, again and again. */
    static void repeat(ContractBytes bytes, int number) {
        int[] numbers = new int[Math.toIntExact(bytes.length() / Integer.BYTES)];
        Arrays.fill(numbers, number);
        bytes.write(0, MemorySegment.ofArray(numbers));
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

    static void assertFilled(ContractBytes bytes, long seed) {
        assertFilled(bytes, seed, 0);
    }

    /** Checks bytes against the pattern that began {@code from} bytes before them. */
    static void assertFilled(ContractBytes bytes, long seed, long from) {
        for (long at = 0; at < bytes.length(); at += ContractBytes.PIECE_BYTES) {
            assertFilled(contents(bytes, at), seed, from, at, bytes.length());
        }
    }

    private static void assertFilled(MemorySegment piece, long seed, long from, long begin, long whole) {
        long first = from + begin;
        long index = 0;
        // Gigabytes are checked so, and where code runs slowly megabytes are many.
        while (index + 8 <= piece.byteSize() && piece.get(WORD, index) == wordAt(seed, first + index)) {
            index += 8;
        }
        for (; index < piece.byteSize(); index++) {
            byte expected = at(seed, first + index);
            byte actual = piece.get(ValueLayout.JAVA_BYTE, index);
            if (actual != expected) {
                assertThat(actual)
                        .as("byte %d of %d, pattern %d from %d", begin + index, whole, seed, from)
                        .isEqualTo(expected);
            }
        }
    }

    static void assertAll(ContractBytes bytes, byte value, String what) {
        for (long at = 0; at < bytes.length(); at += ContractBytes.PIECE_BYTES) {
            assertAll(contents(bytes, at), value, what, at, bytes.length());
        }
    }

    private static void assertAll(MemorySegment piece, byte value, String what, long begin, long whole) {
        long word = 0x0101010101010101L * (value & 0xFF);
        long index = 0;
        while (index + 8 <= piece.byteSize() && piece.get(WORD, index) == word) {
            index += 8;
        }
        for (; index < piece.byteSize(); index++) {
            byte actual = piece.get(ValueLayout.JAVA_BYTE, index);
            if (actual != value) {
                assertThat(actual)
                        .as("%s: byte %d of %d", what, begin + index, whole)
                        .isEqualTo(value);
            }
        }
    }

    static void assertSame(ContractBytes actual, ContractBytes expected) {
        assertThat(actual.length()).isEqualTo(expected.length());
        assertThat(actual.mismatch(expected))
                .as("the first byte that differs, -1 for none")
                .isEqualTo(-1);
    }

    static int checksum(ContractBytes bytes) {
        CRC32C checksum = new CRC32C();
        for (long at = 0; at < bytes.length(); at += ContractBytes.PIECE_BYTES) {
            checksum.update(contents(bytes, at).asByteBuffer());
        }
        return (int) checksum.getValue();
    }

    /** The present content of the piece at an offset. */
    private static MemorySegment contents(ContractBytes bytes, long at) {
        return bytes.slice(at, Math.min(ContractBytes.PIECE_BYTES, bytes.length() - at))
                .contents();
    }
}
