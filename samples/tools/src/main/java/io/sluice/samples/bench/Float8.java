package io.sluice.samples.bench;

import io.sluice.experts.ExpertOptions;

/** Quantises channels to e4m3 of eight bits, in plain Java that shares nothing with the engine. */
final class Float8 {
    private static final int GROUP = ExpertOptions.CHANNELS_OF_A_SCALE;
    private static final float LARGEST = 448;
    private static final byte LARGEST_CODE = 0x7e;
    private static final float LEAST_AMAX = 1e-4f;
    private static final int SIGN = 0x80;
    private static final int BIAS = 7;
    private static final int MANTISSA_BITS = 3;
    private static final int LEAST_EXPONENT = 1 - BIAS;

    private Float8() {}

    /** The greatest magnitude among channels that share a scale, but not less than a bound. */
    private static float amax(float[] channels, int first) {
        float amax = LEAST_AMAX;
        for (int i = first; i < first + GROUP; i++) {
            amax = Math.max(amax, Math.abs(channels[i]));
        }
        return amax;
    }

    /** By what codes of a group are to be multiplied. */
    static float inverseScale(float[] channels, int first) {
        return amax(channels, first) * (1 / LARGEST);
    }

    /** Writes the codes of a group. */
    static void quantise(float[] channels, int first, byte[] codes) {
        float scale = LARGEST / amax(channels, first);
        for (int i = 0; i < GROUP; i++) {
            codes[i] = code(channels[first + i] * scale);
        }
    }

    /** The nearest code, the even one of two, saturating. */
    static byte code(float value) {
        float magnitude = Math.abs(value);
        int sign = Float.floatToRawIntBits(value) < 0 ? SIGN : 0;
        if (magnitude >= LARGEST) {
            return (byte) (sign | LARGEST_CODE);
        }
        int exponent = Math.max(Math.getExponent(magnitude), LEAST_EXPONENT);
        // exact; a code is the number of steps, and those above the least exponent go on where the ones below end
        int steps = (int) Math.rint(Math.scalb(magnitude, MANTISSA_BITS - exponent));
        return (byte) (sign | (((exponent - LEAST_EXPONENT) << MANTISSA_BITS) + steps));
    }
}
