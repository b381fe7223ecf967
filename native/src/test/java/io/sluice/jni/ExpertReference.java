package io.sluice.jni;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Random;

/** Formats of expert parallelism in plain Java, by other means than C's: with doubles, tables and searches. */
final class ExpertReference {
    private static final double[] FLOAT8 = float8();

    private ExpertReference() {}

    /** The values of the codes without sign, the last of which is NaN. */
    private static double[] float8() {
        double[] values = new double[128];
        for (int code = 0; code < 127; code++) {
            int exponent = code / 8;
            values[code] = exponent == 0 ? code % 8 / 512.0 : (1 + code % 8 / 8.0) * Math.pow(2, exponent - 7);
        }
        values[127] = Double.NaN;
        return values;
    }

    static float bfloat16(int bits) {
        return Float.intBitsToFloat(bits << 16);
    }

    /** The float32 that is written for a group. */
    static float inverse(int[] group, int form) {
        float greatest = greatest(group);
        if (Float.isInfinite(greatest)) {
            return greatest;
        }
        float inverse = (float) ((double) greatest * (float) (1.0 / 448));
        if (form == ExpertKernels.EXACT) {
            return inverse;
        }
        double power = Math.pow(2, -40);
        while (power < inverse) {
            power *= 2;
        }
        return (float) power;
    }

    private static float greatest(int[] group) {
        float greatest = 1e-4f;
        for (int bits : group) {
            float value = bfloat16(bits & 0x7fff);
            if (value > greatest) {
                greatest = value;
            }
        }
        return greatest;
    }

    static int code(int bits, int[] group, int form) {
        float greatest = greatest(group);
        float value = bfloat16(bits);
        if (Float.isNaN(value) || Float.isInfinite(value)) {
            return 0x7f;
        }
        int sign = bits >>> 8 & 0x80;
        if (Float.isInfinite(greatest)) {
            return sign;
        }
        float scale = form == ExpertKernels.EXACT
                ? (float) (448.0 / greatest)
                : (float) (1.0 / (double) inverse(group, form));
        double scaled = Math.abs((double) (float) ((double) value * scale));
        return sign | nearest(scaled);
    }

    private static int nearest(double scaled) {
        int best = 0;
        for (int code = 1; code < 127; code++) {
            double closer = Math.abs(scaled - FLOAT8[best]) - Math.abs(scaled - FLOAT8[code]);
            if (closer > 0 || closer == 0 && code % 2 == 0) {
                best = code;
            }
        }
        return best;
    }

    static float value(int code, float inverse) {
        double value = FLOAT8[code & 0x7f] * inverse;
        return (float) ((code & 0x80) != 0 ? -value : value);
    }

    /** The sum that combine makes, rounded to bfloat16; operands that are null are absent. */
    static int sum(float[] weights, int[] operands, boolean[] absent, int bias) {
        float sum = 0;
        for (int k = 0; k < operands.length; k++) {
            if (!absent[k]) {
                float product = weights[k] * bfloat16(operands[k]);
                sum = sum + product;
            }
        }
        return (int) ReduceReference.bfloat16(bias < 0 ? sum : sum + bfloat16(bias));
    }

    /** A LogFMT group's extremes, as bits without sign. */
    static int[] extremes(int[] group) {
        int[] sorted = Arrays.stream(group).map(bits -> bits & 0x7fff).sorted().toArray();
        return new int[] {sorted[sorted.length - 1], sorted[0]};
    }

    static boolean isEncoded(int[] extremes) {
        float greatest = bfloat16(extremes[0]);
        return greatest < 1 && greatest >= Float.MIN_NORMAL && extremes[1] < extremes[0];
    }

    static double low(int[] extremes) {
        double high = log2(bfloat16(extremes[0]));
        float least = bfloat16(extremes[1]);
        return least < Float.MIN_NORMAL ? high - 32 : Math.max(log2(least), high - 32);
    }

    static double step(int[] extremes) {
        return (log2(bfloat16(extremes[0])) - low(extremes)) / 510;
    }

    /** A code before it is cut off to an integer. */
    static double logCode(float value, double low, double step) {
        double absolute = Math.abs(value);
        if (absolute < Float.MIN_NORMAL) {
            return 0;
        }
        double rounding = 2 - log2((1 + Math.pow(2, step)) / 2) / step;
        return Math.max(0, (log2(absolute) - low) / step + rounding);
    }

    static double logValue(int code, double low, double step) {
        return code == 0 ? 0 : Math.pow(2, low + (code - 1) * step);
    }

    static double log2(double value) {
        return Math.log(value) / Math.log(2);
    }

    /** Bits of memory, from the lowest of each byte on. */
    static int bits(MemorySegment memory, long offset, int firstBit, int count) {
        int bits = 0;
        for (int i = 0; i < count; i++) {
            int at = firstBit + i;
            bits |= (memory.get(ValueLayout.JAVA_BYTE, offset + at / 8) >> at % 8 & 1) << i;
        }
        return bits;
    }

    static int[] read(MemorySegment memory, long offset, int count) {
        int[] values = new int[count];
        for (int i = 0; i < count; i++) {
            values[i] = Short.toUnsignedInt(memory.get(ValueLayout.JAVA_SHORT_UNALIGNED, offset + 2L * i));
        }
        return values;
    }

    static void write(MemorySegment memory, long offset, int[] values) {
        for (int i = 0; i < values.length; i++) {
            memory.set(ValueLayout.JAVA_SHORT_UNALIGNED, offset + 2L * i, (short) values[i]);
        }
    }

    /** Normal values times a factor, as bfloat16. */
    static int[] normal(Random random, int count, double factor) {
        int[] values = new int[count];
        for (int i = 0; i < count; i++) {
            values[i] = (int) ReduceReference.bfloat16((float) (random.nextGaussian() * factor));
        }
        return values;
    }

    /** Any finite bfloat16. */
    static int[] finite(Random random, int count) {
        int[] values = new int[count];
        for (int i = 0; i < count; i++) {
            values[i] = random.nextInt(0x7f80) | random.nextInt(2) << 15;
        }
        return values;
    }
}
