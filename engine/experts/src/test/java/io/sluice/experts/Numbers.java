package io.sluice.experts;

import java.util.Arrays;

/**
 * Numbers of 8 and 16 bits as the tests compute them: by their definitions, in double, with no code of the module.
 */
final class Numbers {
    private static final int FINITE_CODES = 127;
    private static final int SIGN = 0x80;
    // of the last place of bfloat16, in the bits of a float32
    private static final int HALF = 0x8000;
    private static final double[] E4M3 = new double[FINITE_CODES];
    private static final float SMALLEST_AMAX = 1e-4f;
    private static final float LARGEST_E4M3 = 448;

    static {
        for (int code = 0; code < FINITE_CODES; code++) {
            int exponent = code >> 3;
            int mantissa = code & 7;
            E4M3[code] = exponent == 0 ? mantissa * 0x1p-9 : Math.scalb(8.0 + mantissa, exponent - 10);
        }
    }

    /** How dispatch encodes elements. */
    enum Scales {
        /** As they are. */
        FLOAT32,
        /** Rounded up to powers of two. */
        POWERS_OF_TWO,
        /** The exponents of those, four in an integer. */
        PACKED_EXPONENTS
    }

    private Numbers() {}

    static float ofBfloat16(short bits) {
        return Float.intBitsToFloat(bits << 16);
    }

    /** Rounds to nearest even. */
    static short toBfloat16(float value) {
        int bits = Float.floatToRawIntBits(value);
        int upper = bits >>> 16;
        int lower = bits & 0xFFFF;
        boolean up = lower > HALF || (lower == HALF && (upper & 1) == 1);
        return (short) (up ? upper + 1 : upper);
    }

    static double ofE4m3(byte code) {
        double value = E4M3[code & (SIGN - 1)];
        return (code & SIGN) == 0 ? value : -value;
    }

    /** The nearest e4m3fn number, of two as near the even one; beyond the largest it is that one. */
    static byte toE4m3(float value) {
        double magnitude = Math.abs((double) value);
        int found = Arrays.binarySearch(E4M3, magnitude);
        // the greatest that is not greater
        int below = found >= 0 ? found : -found - 2;
        int code = below;
        if (below < FINITE_CODES - 1) {
            double down = magnitude - E4M3[below];
            double up = E4M3[below + 1] - magnitude;
            code = up < down || (up == down && (below & 1) == 1) ? below + 1 : below;
        }
        return (byte) (Float.floatToRawIntBits(value) < 0 ? code | SIGN : code);
    }

    /** The inverse scale of a group of elements, which dispatch sends with their codes. */
    static float inverseScale(short[] elements, int first, int count, Scales scales) {
        float inverse = amax(elements, first, count) * (1 / LARGEST_E4M3);
        return scales == Scales.FLOAT32 ? inverse : powerOfTwoFrom(inverse);
    }

    /** By what elements are multiplied before they are rounded. */
    static float scale(short[] elements, int first, int count, Scales scales) {
        float amax = amax(elements, first, count);
        return scales == Scales.FLOAT32 ? LARGEST_E4M3 / amax : 1 / powerOfTwoFrom(amax * (1 / LARGEST_E4M3));
    }

    private static float amax(short[] elements, int first, int count) {
        float amax = SMALLEST_AMAX;
        for (int i = 0; i < count; i++) {
            amax = Math.max(amax, Math.abs(ofBfloat16(elements[first + i])));
        }
        return amax;
    }

    /** The least power of two that is not less. */
    private static float powerOfTwoFrom(float value) {
        double power = 0x1p-140;
        while (power < value) {
            power *= 2;
        }
        return (float) power;
    }

    /** The biased exponent of a power of two, as ue8m0 has it. */
    static int exponent(float powerOfTwo) {
        return Float.floatToRawIntBits(powerOfTwo) >>> 23;
    }
}
