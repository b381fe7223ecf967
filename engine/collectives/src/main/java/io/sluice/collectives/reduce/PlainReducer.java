package io.sluice.collectives.reduce;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Reductions in plain Java. Floats of 16 bits are computed in float32 and rounded once. The minimum and maximum of
 * floats are those of {@link Math}: a NaN wins, and -0 is less than 0. A NaN of a result is always that of {@link
 * Float#NaN}, so that all processors give the same bits.
 */
public final class PlainReducer implements Reducer {
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED;

    @Override
    public void reduce(
            int type,
            int operation,
            MemorySegment target,
            long targetOffset,
            MemorySegment first,
            long firstOffset,
            MemorySegment second,
            long secondOffset,
            long count) {
        for (long i = 0; i < count; i++) {
            switch (type) {
                case TypeCode.INT8 -> {
                    long a = first.get(ValueLayout.JAVA_BYTE, firstOffset + i);
                    long b = second.get(ValueLayout.JAVA_BYTE, secondOffset + i);
                    target.set(ValueLayout.JAVA_BYTE, targetOffset + i, (byte) signed(operation, a, b));
                }
                case TypeCode.UINT8 -> {
                    long a = Byte.toUnsignedLong(first.get(ValueLayout.JAVA_BYTE, firstOffset + i));
                    long b = Byte.toUnsignedLong(second.get(ValueLayout.JAVA_BYTE, secondOffset + i));
                    target.set(ValueLayout.JAVA_BYTE, targetOffset + i, (byte) signed(operation, a, b));
                }
                case TypeCode.INT32 -> {
                    long a = first.get(INT, firstOffset + 4 * i);
                    long b = second.get(INT, secondOffset + 4 * i);
                    target.set(INT, targetOffset + 4 * i, (int) signed(operation, a, b));
                }
                case TypeCode.UINT32 -> {
                    long a = Integer.toUnsignedLong(first.get(INT, firstOffset + 4 * i));
                    long b = Integer.toUnsignedLong(second.get(INT, secondOffset + 4 * i));
                    target.set(INT, targetOffset + 4 * i, (int) signed(operation, a, b));
                }
                case TypeCode.INT64 -> {
                    long a = first.get(LONG, firstOffset + 8 * i);
                    long b = second.get(LONG, secondOffset + 8 * i);
                    target.set(LONG, targetOffset + 8 * i, signed(operation, a, b));
                }
                case TypeCode.UINT64 -> {
                    long a = first.get(LONG, firstOffset + 8 * i);
                    long b = second.get(LONG, secondOffset + 8 * i);
                    target.set(LONG, targetOffset + 8 * i, unsigned(operation, a, b));
                }
                case TypeCode.FLOAT16 -> {
                    float a = Float.float16ToFloat(first.get(SHORT, firstOffset + 2 * i));
                    float b = Float.float16ToFloat(second.get(SHORT, secondOffset + 2 * i));
                    target.set(SHORT, targetOffset + 2 * i, Float.floatToFloat16(floats(operation, a, b)));
                }
                case TypeCode.BFLOAT16 -> {
                    float a = bfloat16ToFloat(first.get(SHORT, firstOffset + 2 * i));
                    float b = bfloat16ToFloat(second.get(SHORT, secondOffset + 2 * i));
                    target.set(SHORT, targetOffset + 2 * i, floatToBfloat16(floats(operation, a, b)));
                }
                case TypeCode.FLOAT32 -> {
                    float a = first.get(FLOAT, firstOffset + 4 * i);
                    float b = second.get(FLOAT, secondOffset + 4 * i);
                    target.set(FLOAT, targetOffset + 4 * i, floats(operation, a, b));
                }
                case TypeCode.FLOAT64 -> {
                    double a = first.get(DOUBLE, firstOffset + 8 * i);
                    double b = second.get(DOUBLE, secondOffset + 8 * i);
                    target.set(DOUBLE, targetOffset + 8 * i, doubles(operation, a, b));
                }
                default -> throw new IllegalArgumentException("no type has the code " + type);
            }
        }
    }

    @Override
    public void divide(int type, MemorySegment target, long targetOffset, long count, int divisor) {
        for (long i = 0; i < count; i++) {
            switch (type) {
                case TypeCode.INT8 -> {
                    byte a = target.get(ValueLayout.JAVA_BYTE, targetOffset + i);
                    target.set(ValueLayout.JAVA_BYTE, targetOffset + i, (byte) (a / divisor));
                }
                case TypeCode.UINT8 -> {
                    int a = Byte.toUnsignedInt(target.get(ValueLayout.JAVA_BYTE, targetOffset + i));
                    target.set(ValueLayout.JAVA_BYTE, targetOffset + i, (byte) (a / divisor));
                }
                case TypeCode.INT32 ->
                    target.set(INT, targetOffset + 4 * i, target.get(INT, targetOffset + 4 * i) / divisor);
                case TypeCode.UINT32 ->
                    target.set(
                            INT,
                            targetOffset + 4 * i,
                            Integer.divideUnsigned(target.get(INT, targetOffset + 4 * i), divisor));
                case TypeCode.INT64 ->
                    target.set(LONG, targetOffset + 8 * i, target.get(LONG, targetOffset + 8 * i) / divisor);
                case TypeCode.UINT64 ->
                    target.set(
                            LONG,
                            targetOffset + 8 * i,
                            Long.divideUnsigned(target.get(LONG, targetOffset + 8 * i), divisor));
                case TypeCode.FLOAT16 -> {
                    float a = Float.float16ToFloat(target.get(SHORT, targetOffset + 2 * i));
                    target.set(SHORT, targetOffset + 2 * i, Float.floatToFloat16(canonical(a / divisor)));
                }
                case TypeCode.BFLOAT16 -> {
                    float a = bfloat16ToFloat(target.get(SHORT, targetOffset + 2 * i));
                    target.set(SHORT, targetOffset + 2 * i, floatToBfloat16(canonical(a / divisor)));
                }
                case TypeCode.FLOAT32 ->
                    target.set(
                            FLOAT, targetOffset + 4 * i, canonical(target.get(FLOAT, targetOffset + 4 * i) / divisor));
                case TypeCode.FLOAT64 ->
                    target.set(
                            DOUBLE,
                            targetOffset + 8 * i,
                            canonical(target.get(DOUBLE, targetOffset + 8 * i) / divisor));
                default -> throw new IllegalArgumentException("no type has the code " + type);
            }
        }
    }

    /** The float32 with the same value. */
    static float bfloat16ToFloat(short bits) {
        return Float.intBitsToFloat(bits << 16);
    }

    /** Rounded to the nearest, ties to even. */
    static short floatToBfloat16(float value) {
        int bits = Float.floatToRawIntBits(value);
        if (Float.isNaN(value)) {
            // rounding could make another number of it
            return (short) (bits >>> 16);
        }
        return (short) ((bits + 0x7FFF + ((bits >>> 16) & 1)) >>> 16);
    }

    private static long signed(int operation, long a, long b) {
        return switch (operation) {
            case OperationCode.SUM, OperationCode.AVERAGE -> a + b;
            case OperationCode.PRODUCT -> a * b;
            case OperationCode.MIN -> Math.min(a, b);
            case OperationCode.MAX -> Math.max(a, b);
            default -> throw unknown(operation);
        };
    }

    private static long unsigned(int operation, long a, long b) {
        return switch (operation) {
            case OperationCode.MIN -> Long.compareUnsigned(a, b) <= 0 ? a : b;
            case OperationCode.MAX -> Long.compareUnsigned(a, b) >= 0 ? a : b;
            default -> signed(operation, a, b);
        };
    }

    private static float floats(int operation, float a, float b) {
        float result = switch (operation) {
            case OperationCode.SUM, OperationCode.AVERAGE -> a + b;
            case OperationCode.PRODUCT -> a * b;
            case OperationCode.MIN -> Math.min(a, b);
            case OperationCode.MAX -> Math.max(a, b);
            default -> throw unknown(operation);
        };
        return canonical(result);
    }

    private static double doubles(int operation, double a, double b) {
        double result = switch (operation) {
            case OperationCode.SUM, OperationCode.AVERAGE -> a + b;
            case OperationCode.PRODUCT -> a * b;
            case OperationCode.MIN -> Math.min(a, b);
            case OperationCode.MAX -> Math.max(a, b);
            default -> throw unknown(operation);
        };
        return canonical(result);
    }

    private static float canonical(float value) {
        return Float.isNaN(value) ? Float.NaN : value;
    }

    private static double canonical(double value) {
        return Double.isNaN(value) ? Double.NaN : value;
    }

    private static IllegalArgumentException unknown(int operation) {
        return new IllegalArgumentException("no reduction has the code " + operation);
    }
}
