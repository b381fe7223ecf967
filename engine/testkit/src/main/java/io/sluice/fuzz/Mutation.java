package io.sluice.fuzz;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.random.RandomGenerator;

/** Damages bytes as bad hardware, bad programs and bad people would. */
public final class Mutation {
    private static final int[] TELLING = {0, 1, -1, 0x7f, 0x80, Integer.MAX_VALUE, Integer.MIN_VALUE, 0xffff};
    private static final long[] LONG_LIMITS = {
        0, 1, -1, Long.MAX_VALUE, Long.MIN_VALUE, Long.MIN_VALUE + 1, Integer.MAX_VALUE, 1L << 32, -4096
    };

    private Mutation() {}

    /**
     * A damaged copy; the original stays whole.
     *
     * @param original what to copy
     * @param random what decides about the damage
     * @return the copy
     */
    public static byte[] of(byte[] original, RandomGenerator random) {
        byte[] bytes = original.clone();
        int times = 1 + random.nextInt(3);
        for (int i = 0; i < times && bytes.length > 0; i++) {
            bytes = once(bytes, random);
        }
        return bytes;
    }

    /**
     * The beginning of one and the end of the other.
     *
     * @param one whose beginning is taken
     * @param other whose end is taken
     * @param random what decides how much of each
     * @return a new array
     */
    public static byte[] splice(byte[] one, byte[] other, RandomGenerator random) {
        int head = random.nextInt(one.length + 1);
        int tail = random.nextInt(other.length + 1);
        return ByteBuffer.allocate(head + tail)
                .put(one, 0, head)
                .put(other, other.length - tail, tail)
                .array();
    }

    private static byte[] once(byte[] bytes, RandomGenerator random) {
        int at = random.nextInt(bytes.length);
        switch (random.nextInt(8)) {
            case 0, 1 -> {
                bytes[at] ^= (byte) (1 << random.nextInt(8));
                return bytes;
            }
            case 2 -> {
                bytes[at] = (byte) random.nextInt();
                return bytes;
            }
            case 3 -> {
                return Arrays.copyOf(bytes, at);
            }
            case 4 -> {
                return duplicated(bytes, at, Math.min(bytes.length, at + 1 + random.nextInt(64)));
            }
            case 5 -> {
                return without(bytes, at, Math.min(bytes.length, at + 1 + random.nextInt(16)));
            }
            case 6 -> {
                if (bytes.length >= Long.BYTES) {
                    ByteBuffer.wrap(bytes)
                            .putLong(
                                    Math.min(at, bytes.length - Long.BYTES),
                                    LONG_LIMITS[random.nextInt(LONG_LIMITS.length)]);
                }
                return bytes;
            }
            default -> {
                // A lie about a length, or about anything else that is a number.
                int value = TELLING[random.nextInt(TELLING.length)];
                ByteBuffer buffer = ByteBuffer.wrap(bytes);
                if (random.nextBoolean() && bytes.length >= 4) {
                    buffer.putInt(Math.min(at, bytes.length - 4), value);
                } else if (bytes.length >= 2) {
                    buffer.putShort(Math.min(at, bytes.length - 2), (short) value);
                }
                return bytes;
            }
        }
    }

    private static byte[] duplicated(byte[] bytes, int from, int to) {
        return ByteBuffer.allocate(bytes.length + to - from)
                .put(bytes, 0, to)
                .put(bytes, from, bytes.length - from)
                .array();
    }

    private static byte[] without(byte[] bytes, int from, int to) {
        return ByteBuffer.allocate(bytes.length - (to - from))
                .put(bytes, 0, from)
                .put(bytes, to, bytes.length - to)
                .array();
    }
}
