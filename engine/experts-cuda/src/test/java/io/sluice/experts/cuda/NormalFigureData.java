package io.sluice.experts.cuda;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/** Large inputs that each rank can compute of every rank, and what must come of them. */
record NormalFigureData(int ranks, int experts, int hidden, int tokens, int topK) {
    private static final int GROUP = 128;

    /** The experts of a rank's tokens. */
    long[] choices(int rank) {
        SplittableRandom random = new SplittableRandom(1000L + rank);
        long[] choices = new long[tokens * topK];
        int[] all = IntStream.range(0, experts).toArray();
        for (int token = 0; token < tokens; token++) {
            for (int k = 0; k < topK; k++) {
                int other = k + random.nextInt(experts - k);
                int expert = all[other];
                all[other] = all[k];
                all[k] = expert;
                choices[token * topK + k] = expert;
            }
        }
        return choices;
    }

    boolean goesTo(long[] choices, int token, int rank) {
        for (int k = 0; k < topK; k++) {
            if (choices[token * topK + k] / (experts / ranks) == rank) {
                return true;
            }
        }
        return false;
    }

    /** An element of a token, or of what a rank has made of it if that is not negative: bfloat16. */
    private short element(int source, int token, int rank, int channel) {
        int mixed = (((source * 67 + rank + 1) * 131_071 + token) * hidden + channel) * 0x9E3779B1;
        mixed = (mixed ^ mixed >>> 15) * 0x85EBCA77;
        mixed ^= mixed >>> 13;
        return (short) (mixed & 0x807F | 121 + (mixed >>> 8 & 7) << 7);
    }

    void put(MemorySegment to, long row, int source, int token, int rank) {
        long at = row * hidden * Short.BYTES;
        for (int i = 0; i < hidden; i++) {
            to.set(ValueLayout.JAVA_SHORT, at + (long) i * Short.BYTES, element(source, token, rank, i));
        }
    }

    /** Whether a row is a token. */
    boolean isToken(MemorySegment rows, long row, int source, int token) {
        for (int i = 0; i < hidden; i++) {
            if (rows.get(ValueLayout.JAVA_SHORT, (row * hidden + i) * Short.BYTES) != element(source, token, -1, i)) {
                return false;
            }
        }
        return true;
    }

    /** Whether a row has the codes and scales of a token, in e4m3 with exact scales. */
    boolean isQuantised(MemorySegment rows, MemorySegment scales, long row, int source, int token) {
        for (int group = 0; group < hidden / GROUP; group++) {
            float greatest = 1e-4f;
            for (int i = group * GROUP; i < (group + 1) * GROUP; i++) {
                greatest = Math.max(greatest, Math.abs(wide(element(source, token, -1, i))));
            }
            if (scales.getAtIndex(ValueLayout.JAVA_FLOAT, row * (hidden / GROUP) + group) != greatest * (1 / 448.0f)) {
                return false;
            }
            float factor = 448.0f / greatest;
            for (int i = group * GROUP; i < (group + 1) * GROUP; i++) {
                byte code = rows.get(ValueLayout.JAVA_BYTE, row * hidden + i);
                if (code != code(wide(element(source, token, -1, i)) * factor)) {
                    return false;
                }
            }
        }
        return true;
    }

    private static float wide(short bits) {
        return Float.intBitsToFloat(bits << 16);
    }

    /** The nearest number of e4m3, of two as near the even one. */
    private static byte code(float value) {
        float magnitude = Math.abs(value);
        int exponent = Math.max(Math.getExponent(magnitude), -6);
        int eighths = (int) Math.rint(Math.scalb((double) magnitude, 3 - exponent));
        int code = (exponent + 6) * 8 + eighths;
        return (byte) (value < 0 || 1 / value < 0 ? code | 0x80 : code);
    }

    /** Whether a row is the sum of a token. */
    boolean isSum(MemorySegment rows, int source, int token, long[] choices) {
        boolean[] goes = new boolean[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            goes[rank] = goesTo(choices, token, rank);
        }
        for (int i = 0; i < hidden; i++) {
            float sum = 0;
            for (int rank = 0; rank < ranks; rank++) {
                if (goes[rank]) {
                    sum += wide(element(source, token, rank, i));
                }
            }
            int bits = Float.floatToRawIntBits(sum);
            short expected = (short) (bits + 0x7FFF + (bits >>> 16 & 1) >>> 16);
            if (rows.get(ValueLayout.JAVA_SHORT, ((long) token * hidden + i) * Short.BYTES) != expected) {
                return false;
            }
        }
        return true;
    }
}
