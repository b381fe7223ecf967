package io.sluice.jni;

import java.util.Random;

/** One element of a reduction in plain Java. Elements are their bits in the lower part of a long, the rest zero. */
final class ReduceReference {
    private ReduceReference() {}

    static int bits(int type) {
        return switch (type) {
            case Reduce.INT8, Reduce.UINT8 -> Byte.SIZE;
            case Reduce.FLOAT16, Reduce.BFLOAT16 -> Short.SIZE;
            case Reduce.INT32, Reduce.UINT32, Reduce.FLOAT32 -> Integer.SIZE;
            default -> Long.SIZE;
        };
    }

    static long reduce(int type, int operation, long[] operands, int divisor) {
        return switch (type) {
            case Reduce.FLOAT16, Reduce.BFLOAT16, Reduce.FLOAT32 -> {
                float result = widened(type, operands[0]);
                for (int i = 1; i < operands.length; i++) {
                    float operand = widened(type, operands[i]);
                    result = switch (operation) {
                        case Reduce.PRODUCT -> result * operand;
                        case Reduce.MIN -> Math.min(result, operand);
                        case Reduce.MAX -> Math.max(result, operand);
                        default -> result + operand;
                    };
                }
                yield narrowed(type, operation == Reduce.AVERAGE ? result / divisor : result);
            }
            case Reduce.FLOAT64 -> {
                double result = Double.longBitsToDouble(operands[0]);
                for (int i = 1; i < operands.length; i++) {
                    double operand = Double.longBitsToDouble(operands[i]);
                    result = switch (operation) {
                        case Reduce.PRODUCT -> result * operand;
                        case Reduce.MIN -> Math.min(result, operand);
                        case Reduce.MAX -> Math.max(result, operand);
                        default -> result + operand;
                    };
                }
                yield Double.doubleToLongBits(operation == Reduce.AVERAGE ? result / divisor : result);
            }
            default -> integer(type, operation, operands, divisor);
        };
    }

    private static long integer(int type, int operation, long[] operands, int divisor) {
        boolean signed = type == Reduce.INT8 || type == Reduce.INT32 || type == Reduce.INT64;
        long result = extended(type, signed, operands[0]);
        for (int i = 1; i < operands.length; i++) {
            long operand = extended(type, signed, operands[i]);
            boolean less = signed ? operand < result : Long.compareUnsigned(operand, result) < 0;
            result = switch (operation) {
                case Reduce.PRODUCT -> result * operand;
                case Reduce.MIN -> less ? operand : result;
                case Reduce.MAX -> less ? result : operand;
                default -> result + operand;
            };
        }
        if (operation == Reduce.AVERAGE) {
            long sum = extended(type, signed, result);
            result = signed ? sum / divisor : Long.divideUnsigned(sum, divisor);
        }
        return extended(type, false, result);
    }

    private static long extended(int type, boolean signed, long bits) {
        int unused = Long.SIZE - bits(type);
        return signed ? bits << unused >> unused : bits << unused >>> unused;
    }

    private static float widened(int type, long bits) {
        return switch (type) {
            case Reduce.FLOAT16 -> Float.float16ToFloat((short) bits);
            case Reduce.BFLOAT16 -> Float.intBitsToFloat((int) bits << Short.SIZE);
            default -> Float.intBitsToFloat((int) bits);
        };
    }

    private static long narrowed(int type, float value) {
        return switch (type) {
            case Reduce.FLOAT16 -> Float.isNaN(value) ? 0x7e00 : Short.toUnsignedLong(Float.floatToFloat16(value));
            case Reduce.BFLOAT16 -> bfloat16(value);
            default -> Integer.toUnsignedLong(Float.floatToIntBits(value));
        };
    }

    /** The nearer one of the two neighbours, by their distance as doubles. */
    static long bfloat16(float value) {
        if (Float.isNaN(value)) {
            return 0x7fc0;
        }
        int lower = Float.floatToRawIntBits(value) >>> Short.SIZE;
        if (Float.isInfinite(value)) {
            return lower;
        }
        // beyond the greatest finite one lies what would be the next, which stands for infinity
        double step = Math.scalb(1.0, Math.max(Math.getExponent(value), Float.MIN_EXPONENT) - 7);
        double below = Math.abs((double) value) - Math.abs((double) Float.intBitsToFloat(lower << Short.SIZE));
        double above = step - below;
        boolean isUp = below > above || (below == above && (lower & 1) == 1);
        return isUp ? lower + 1L : lower;
    }

    /** Any bits, or more often for floats of a middle size, at times zeros, denormals, extremes, infinities and NaNs. */
    static long random(int type, Random random) {
        long any = extended(type, false, random.nextLong());
        return switch (type) {
            case Reduce.FLOAT16 -> floating(random, any, 10, 5, 15);
            case Reduce.BFLOAT16 -> floating(random, any, 7, 8, 127);
            case Reduce.FLOAT32 -> floating(random, any, 23, 8, 127);
            case Reduce.FLOAT64 -> floating(random, any, 52, 11, 1023);
            default -> any;
        };
    }

    private static long floating(Random random, long any, int mantissa, int exponent, long middle) {
        long fraction = (1L << mantissa) - 1;
        long infinity = ((1L << exponent) - 1) << mantissa;
        long sign = any & 1L << (mantissa + exponent);
        return switch (random.nextInt(32)) {
            case 0 -> sign;
            case 1 -> sign | (any & fraction);
            case 2 -> sign | 1;
            case 3 -> sign | (infinity - 1);
            case 4 -> sign | infinity;
            case 5 -> sign | infinity | 1;
            case 6 -> sign | infinity | (any & fraction);
            case 7, 8, 9, 10, 11 -> any;
            default -> sign | (any & fraction) | (middle + random.nextInt(-3, 4)) << mantissa;
        };
    }
}
