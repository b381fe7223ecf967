package io.sluice.collectives.cuda;

import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Random;

/** Reductions in the order of the ranks, in plain Java: integers as numbers of any size, floats as Java computes them. */
final class ReferenceReduction {
    private ReferenceReduction() {}

    static long longAt(byte[] bytes, int at) {
        return buffer(bytes).getLong(at);
    }

    private static ByteBuffer buffer(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder());
    }

    private static boolean isFloat(ElementType type) {
        return type.name().contains("FLOAT");
    }

    /** Random elements; of floats finite ones, and some that are special. */
    static byte[] elements(Random random, ElementType type, int bytes) {
        byte[] made = new byte[bytes];
        random.nextBytes(made);
        if (!isFloat(type)) {
            return made;
        }
        ByteBuffer to = buffer(made);
        double[] special = {0.0, -0.0, Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 1};
        for (int at = 0; at < bytes; at += type.bytes()) {
            double value = random.nextInt(16) == 0 ? special[random.nextInt(special.length)] : random.nextGaussian();
            put(to, type, at, value);
        }
        return made;
    }

    private static void put(ByteBuffer to, ElementType type, int at, double value) {
        switch (type) {
            case FLOAT16 -> to.putShort(at, Double.isNaN(value) ? 0x7E00 : Float.floatToFloat16((float) value));
            case BFLOAT16 -> to.putShort(at, bfloat16((float) value));
            case FLOAT32 -> to.putFloat(at, Float.isNaN((float) value) ? Float.NaN : (float) value);
            case FLOAT64 -> to.putDouble(at, Double.isNaN(value) ? Double.NaN : value);
            default -> throw new AssertionError(type);
        }
    }

    private static short bfloat16(float value) {
        int bits = Float.floatToIntBits(value);
        return (short) (Float.isNaN(value) ? 0x7FC0 : (bits + 0x7FFF + (bits >>> 16 & 1)) >>> 16);
    }

    private static float float32(ByteBuffer from, ElementType type, int at) {
        return switch (type) {
            case FLOAT16 -> Float.float16ToFloat(from.getShort(at));
            case BFLOAT16 -> Float.intBitsToFloat(from.getShort(at) << 16);
            default -> from.getFloat(at);
        };
    }

    private static float combine(ReduceOperation operation, float left, float right) {
        return switch (operation) {
            case SUM, AVERAGE -> left + right;
            case PRODUCT -> left * right;
            case MIN -> Math.min(left, right);
            case MAX -> Math.max(left, right);
        };
    }

    private static double combine(ReduceOperation operation, double left, double right) {
        return switch (operation) {
            case SUM, AVERAGE -> left + right;
            case PRODUCT -> left * right;
            case MIN -> Math.min(left, right);
            case MAX -> Math.max(left, right);
        };
    }

    private static BigInteger combine(ReduceOperation operation, BigInteger left, BigInteger right) {
        return switch (operation) {
            case SUM, AVERAGE -> left.add(right);
            case PRODUCT -> left.multiply(right);
            case MIN -> left.min(right);
            case MAX -> left.max(right);
        };
    }

    /** The elements that begin so many bytes into each rank's source, reduced. */
    static byte[] reduce(ElementType type, ReduceOperation operation, List<byte[]> sources, int from, int count) {
        byte[] result = new byte[count * type.bytes()];
        ByteBuffer to = buffer(result);
        for (int i = 0; i < count; i++) {
            int at = i * type.bytes();
            switch (type) {
                case FLOAT64 -> {
                    double sum = buffer(sources.getFirst()).getDouble(from + at);
                    for (byte[] source : sources.subList(1, sources.size())) {
                        sum = combine(operation, sum, buffer(source).getDouble(from + at));
                    }
                    put(to, type, at, operation == ReduceOperation.AVERAGE ? sum / sources.size() : sum);
                }
                case FLOAT16, BFLOAT16, FLOAT32 -> {
                    float sum = float32(buffer(sources.getFirst()), type, from + at);
                    for (byte[] source : sources.subList(1, sources.size())) {
                        sum = combine(operation, sum, float32(buffer(source), type, from + at));
                    }
                    put(to, type, at, operation == ReduceOperation.AVERAGE ? sum / sources.size() : sum);
                }
                default -> putInteger(to, type, at, integer(type, operation, sources, from + at));
            }
        }
        return result;
    }

    private static BigInteger integer(ElementType type, ReduceOperation operation, List<byte[]> sources, int at) {
        BigInteger sum = null;
        for (byte[] source : sources) {
            BigInteger next = wrapped(type, new BigInteger(bigEndian(source, at, type.bytes())));
            sum = sum == null ? next : wrapped(type, combine(operation, sum, next));
        }
        return operation == ReduceOperation.AVERAGE ? sum.divide(BigInteger.valueOf(sources.size())) : sum;
    }

    private static byte[] bigEndian(byte[] source, int at, int bytes) {
        byte[] reversed = new byte[bytes];
        for (int i = 0; i < bytes; i++) {
            reversed[i] = source[at + (ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? bytes - 1 - i : i)];
        }
        return reversed;
    }

    /** The number of the type that has the same lowest bits. */
    private static BigInteger wrapped(ElementType type, BigInteger value) {
        BigInteger range = BigInteger.ONE.shiftLeft(Byte.SIZE * type.bytes());
        BigInteger low = value.mod(range);
        boolean isNegative = type.name().startsWith("INT") && low.testBit(Byte.SIZE * type.bytes() - 1);
        return isNegative ? low.subtract(range) : low;
    }

    private static void putInteger(ByteBuffer to, ElementType type, int at, BigInteger value) {
        switch (type.bytes()) {
            case 1 -> to.put(at, value.byteValue());
            case 4 -> to.putInt(at, value.intValue());
            default -> to.putLong(at, value.longValue());
        }
    }
}
