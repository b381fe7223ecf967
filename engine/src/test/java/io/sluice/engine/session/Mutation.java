package io.sluice.engine.session;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Random;

/** Damages bytes as bad hardware, bad programs and bad people would. */
public final class Mutation {
    private static final int[] TELLING = {0, 1, -1, 0x7f, 0x80, Integer.MAX_VALUE, Integer.MIN_VALUE, 0xffff};

    private Mutation() {}

    /** A damaged copy; the original stays whole. */
    public static byte[] of(byte[] original, Random random) {
        byte[] bytes = original.clone();
        int times = 1 + random.nextInt(3);
        for (int i = 0; i < times && bytes.length > 0; i++) {
            bytes = once(bytes, random);
        }
        return bytes;
    }

    private static byte[] once(byte[] bytes, Random random) {
        int at = random.nextInt(bytes.length);
        switch (random.nextInt(7)) {
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
