package io.sluice.collectives;

import static org.assertj.core.api.Assertions.fail;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Elements of each type, and what their reductions must be: computed one after another, integers in 64 bits and floats in
 * float64 with the error of each sum kept apart.
 */
final class Elements {
    private static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT_UNALIGNED;
    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED;
    private static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG_UNALIGNED;
    private static final ValueLayout.OfFloat FLOAT = ValueLayout.JAVA_FLOAT_UNALIGNED;
    private static final ValueLayout.OfDouble DOUBLE = ValueLayout.JAVA_DOUBLE_UNALIGNED;
    // whose sums and products over 8 ranks every type of floats represents
    private static final float[] EXACT = {-2, -1, -0.5f, 0.5f, 1, 2};
    private static final double SLACK = 1.01;

    private Elements() {}

    static boolean isFloat(ElementType type) {
        return switch (type) {
            case FLOAT16, BFLOAT16, FLOAT32, FLOAT64 -> true;
            default -> false;
        };
    }

    /** The largest relative error of one rounding. */
    private static double roundoff(ElementType type) {
        return switch (type) {
            case FLOAT16 -> 0x1p-11;
            case BFLOAT16 -> 0x1p-8;
            case FLOAT32 -> 0x1p-24;
            default -> 0x1p-53;
        };
    }

    /**
     * Fills memory with random elements.
     *
     * @param exact whether floats are such that no reduction rounds them
     */
    static void fill(MemorySegment memory, ElementType type, boolean exact, SplittableRandom random) {
        long count = memory.byteSize() / type.bytes();
        if (!isFloat(type)) {
            for (long at = 0; at < memory.byteSize(); at++) {
                if (memory.byteSize() - at >= Long.BYTES) {
                    memory.set(LONG, at, random.nextLong());
                    at += Long.BYTES - 1;
                } else {
                    memory.set(ValueLayout.JAVA_BYTE, at, (byte) random.nextInt());
                }
            }
            return;
        }
        for (long i = 0; i < count; i++) {
            // neither so small nor so large that a product of all ranks leaves the range of 16 bits
            double value = exact
                    ? EXACT[random.nextInt(EXACT.length)]
                    : (random.nextBoolean() ? 1 : -1) * (0.5 + 1.5 * random.nextDouble());
            set(memory, i * type.bytes(), type, value);
        }
    }

    private static void set(MemorySegment memory, long at, ElementType type, double value) {
        switch (type) {
            case FLOAT16 -> memory.set(SHORT, at, Float.floatToFloat16((float) value));
            case BFLOAT16 -> memory.set(SHORT, at, (short) (Float.floatToRawIntBits((float) value) >>> 16));
            case FLOAT32 -> memory.set(FLOAT, at, (float) value);
            default -> memory.set(DOUBLE, at, value);
        }
    }

    private static double real(MemorySegment memory, long at, ElementType type) {
        return switch (type) {
            case FLOAT16 -> Float.float16ToFloat(memory.get(SHORT, at));
            case BFLOAT16 -> Float.intBitsToFloat(memory.get(SHORT, at) << 16);
            case FLOAT32 -> memory.get(FLOAT, at);
            default -> memory.get(DOUBLE, at);
        };
    }

    private static long integer(MemorySegment memory, long at, ElementType type) {
        return switch (type) {
            case INT8 -> memory.get(ValueLayout.JAVA_BYTE, at);
            case UINT8 -> Byte.toUnsignedLong(memory.get(ValueLayout.JAVA_BYTE, at));
            case INT32 -> memory.get(INT, at);
            case UINT32 -> Integer.toUnsignedLong(memory.get(INT, at));
            default -> memory.get(LONG, at);
        };
    }

    private static long narrowed(long value, ElementType type) {
        return switch (type) {
            case INT8 -> (byte) value;
            case UINT8 -> value & 0xFF;
            case INT32 -> (int) value;
            case UINT32 -> value & 0xFFFF_FFFFL;
            default -> value;
        };
    }

    /**
     * Checks a range of a reduction.
     *
     * @param what for the message
     * @param vectors the elements of each rank
     * @param first the place in them of the first element that is checked
     * @param target holds the result
     * @param at where it begins, in bytes
     * @param exact whether the floats are such that no reduction rounds them
     */
    static void checkReduction(
            String what,
            List<MemorySegment> vectors,
            ElementType type,
            ReduceOperation operation,
            boolean exact,
            long first,
            MemorySegment target,
            long at,
            long count) {
        // the errors of each rounding multiply; the bound is (n - 1) u where n u is small
        double bound = Math.expm1((vectors.size() - 1) * Math.log1p(roundoff(type)));
        for (long i = 0; i < count; i++) {
            long from = (first + i) * type.bytes();
            String wrong = isFloat(type)
                    ? wrongFloat(
                            vectors, from, type, operation, exact, bound, real(target, at + i * type.bytes(), type))
                    : wrongInteger(vectors, from, type, operation, integer(target, at + i * type.bytes(), type));
            if (wrong != null) {
                fail("%s: element %d of %d: %s", what, i, count, wrong);
            }
        }
    }

    private static @Nullable String wrongInteger(
            List<MemorySegment> vectors, long from, ElementType type, ReduceOperation operation, long found) {
        int size = vectors.size();
        long expected = integer(vectors.getFirst(), from, type);
        boolean unsigned = type == ElementType.UINT64;
        for (int rank = 1; rank < size; rank++) {
            long other = integer(vectors.get(rank), from, type);
            expected = switch (operation) {
                case SUM, AVERAGE -> expected + other;
                case PRODUCT -> expected * other;
                case MIN ->
                    (unsigned ? Long.compareUnsigned(expected, other) : Long.compare(expected, other)) <= 0
                            ? expected
                            : other;
                case MAX ->
                    (unsigned ? Long.compareUnsigned(expected, other) : Long.compare(expected, other)) >= 0
                            ? expected
                            : other;
            };
        }
        expected = narrowed(expected, type);
        if (operation == ReduceOperation.AVERAGE) {
            expected = unsigned ? Long.divideUnsigned(expected, size) : expected / size;
        }
        return found == expected ? null : found + " instead of " + expected;
    }

    private static @Nullable String wrongFloat(
            List<MemorySegment> vectors,
            long from,
            ElementType type,
            ReduceOperation operation,
            boolean exact,
            double bound,
            double found) {
        int size = vectors.size();
        double expected = real(vectors.getFirst(), from, type);
        double lost = 0;
        double absolute = Math.abs(expected);
        for (int rank = 1; rank < size; rank++) {
            double other = real(vectors.get(rank), from, type);
            absolute += Math.abs(other);
            switch (operation) {
                case SUM, AVERAGE -> {
                    double sum = expected + other;
                    double part = sum - expected;
                    lost += (expected - (sum - part)) + (other - part);
                    expected = sum;
                }
                case PRODUCT -> expected *= other;
                case MIN -> expected = Math.min(expected, other);
                case MAX -> expected = Math.max(expected, other);
            }
        }
        expected += lost;
        double unit = roundoff(type);
        double allowed = switch (operation) {
            case SUM -> exact ? 0 : bound * absolute * SLACK;
            case AVERAGE -> (exact ? unit : bound + unit) * absolute / size * SLACK;
            // float64 is its own reference
            case PRODUCT -> exact ? 0 : (type == ElementType.FLOAT64 ? 2 : 1) * bound * Math.abs(expected) * SLACK;
            case MIN, MAX -> 0;
        };
        if (operation == ReduceOperation.AVERAGE) {
            expected /= size;
        }
        return Math.abs(found - expected) <= allowed
                ? null
                : found + " instead of " + expected + ", which is more than " + allowed + " apart";
    }
}
