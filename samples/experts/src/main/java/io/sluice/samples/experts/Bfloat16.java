package io.sluice.samples.experts;

/** Rows of bfloat16: the upper halves of floats. */
final class Bfloat16 {
    private Bfloat16() {}

    static float value(short bits) {
        return Float.intBitsToFloat(bits << Short.SIZE);
    }

    /** To nearest, and of two as near to the even one. */
    static short of(float value) {
        if (Float.isNaN(value)) {
            return 0x7fc0;
        }
        int bits = Float.floatToRawIntBits(value);
        return (short) ((bits + 0x7fff + (bits >>> Short.SIZE & 1)) >>> Short.SIZE);
    }

    static float[] values(short[] row) {
        float[] values = new float[row.length];
        for (int i = 0; i < row.length; i++) {
            values[i] = value(row[i]);
        }
        return values;
    }

    static short[] of(float[] values) {
        short[] row = new short[values.length];
        for (int i = 0; i < row.length; i++) {
            row[i] = of(values[i]);
        }
        return row;
    }
}
