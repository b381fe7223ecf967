package io.sluice.engine.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.LongFunction;
import java.util.zip.CRC32C;

/** Bytes that differ from place to place and from seed to seed, so that misplaced bytes show. */
final class BytePattern {
    private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

    private BytePattern() {}

    static void fill(ContractBytes bytes, long seed) {
        long[] words = new long[(int) ((Math.min(ContractBytes.PIECE_BYTES, bytes.length()) + 7) / 8)];
        MemorySegment piece = MemorySegment.ofArray(words);
        for (long at = 0; at < bytes.length(); at += ContractBytes.PIECE_BYTES) {
            long length = Math.min(ContractBytes.PIECE_BYTES, bytes.length() - at);
            set(words, (int) ((length + 7) / 8), seed, at);
            bytes.write(at, piece.asSlice(0, length));
        }
    }

    /** Sets words to the pattern from a multiple of 8 on; an array, as code that is hardly compiled reaches it fast. */
    private static void set(long[] words, int count, long seed, long from) {
        for (int i = 0; i < count; i++) {
            long word = word(seed, from + 8L * i);
            words[i] = LITTLE_ENDIAN ? word : Long.reverseBytes(word);
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
        long[] words = new long[(int) (Math.min(ContractBytes.PIECE_BYTES, bytes.length()) / 8 + 2)];
        MemorySegment pattern = MemorySegment.ofArray(words);
        for (long at = 0; at < bytes.length(); at += ContractBytes.PIECE_BYTES) {
            MemorySegment piece = contents(bytes, at);
            long before = (from + at) & 7;
            set(words, (int) ((before + piece.byteSize() + 7) / 8), seed, from + at - before);
            long begin = at;
            assertAre(
                    piece,
                    pattern.asSlice(before, piece.byteSize()),
                    index -> "byte %d of %d, pattern %d from %d".formatted(begin + index, bytes.length(), seed, from));
        }
    }

    static void assertAll(ContractBytes bytes, byte value, String what) {
        MemorySegment values = MemorySegment.ofArray(
                        new byte[(int) Math.min(ContractBytes.PIECE_BYTES, bytes.length())])
                .fill(value);
        for (long at = 0; at < bytes.length(); at += ContractBytes.PIECE_BYTES) {
            MemorySegment piece = contents(bytes, at);
            long begin = at;
            assertAre(
                    piece,
                    values.asSlice(0, piece.byteSize()),
                    index -> "%s: byte %d of %d".formatted(what, begin + index, bytes.length()));
        }
    }

    /** Compares two segments of one size; bytes may change meanwhile. */
    private static void assertAre(MemorySegment piece, MemorySegment expected, LongFunction<String> what) {
        long size = piece.byteSize();
        long index = 0;
        while (index < size) {
            long found = piece.asSlice(index).mismatch(expected.asSlice(index));
            if (found == -1) {
                return;
            }
            index += found;
            assertThat(piece.get(ValueLayout.JAVA_BYTE, index))
                    .as(what.apply(index))
                    .isEqualTo(expected.get(ValueLayout.JAVA_BYTE, index));
            index++;
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
