package io.sluice.collectives;

import static org.assertj.core.api.Assertions.fail;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

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
    private static final int BLOCK = 1024;

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

    /** Elements of a float type, from a place on. */
    private static void read(MemorySegment memory, long at, ElementType type, double[] to, int count) {
        switch (type) {
            case FLOAT16 -> {
                for (int i = 0; i < count; i++) {
                    to[i] = Float.float16ToFloat(memory.get(SHORT, at + 2L * i));
                }
            }
            case BFLOAT16 -> {
                for (int i = 0; i < count; i++) {
                    to[i] = Float.intBitsToFloat(memory.get(SHORT, at + 2L * i) << 16);
                }
            }
            case FLOAT32 -> {
                for (int i = 0; i < count; i++) {
                    to[i] = memory.get(FLOAT, at + 4L * i);
                }
            }
            default -> MemorySegment.copy(memory, DOUBLE, at, to, 0, count);
        }
    }

    /** Elements of an integer type, from a place on. */
    private static void read(MemorySegment memory, long at, ElementType type, long[] to, int count) {
        switch (type) {
            case INT8 -> {
                for (int i = 0; i < count; i++) {
                    to[i] = memory.get(ValueLayout.JAVA_BYTE, at + i);
                }
            }
            case UINT8 -> {
                for (int i = 0; i < count; i++) {
                    to[i] = Byte.toUnsignedLong(memory.get(ValueLayout.JAVA_BYTE, at + i));
                }
            }
            case INT32 -> {
                for (int i = 0; i < count; i++) {
                    to[i] = memory.get(INT, at + 4L * i);
                }
            }
            case UINT32 -> {
                for (int i = 0; i < count; i++) {
                    to[i] = Integer.toUnsignedLong(memory.get(INT, at + 4L * i));
                }
            }
            default -> MemorySegment.copy(memory, LONG, at, to, 0, count);
        }
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
        Checked checked =
                isFloat(type) ? new Floats(vectors, type, operation, exact) : new Integers(vectors, type, operation);
        for (long done = 0; done < count; done += BLOCK) {
            int length = (int) Math.min(BLOCK, count - done);
            int wrong = checked.firstWrong((first + done) * type.bytes(), target, at + done * type.bytes(), length);
            if (wrong >= 0) {
                fail("%s: element %d of %d: %s", what, done + wrong, count, checked.message(wrong));
            }
        }
    }

    /** What a block of elements must be: it keeps the numbers of all, as loops over arrays are fast. */
    private interface Checked {
        /** The first that is wrong, or −1. */
        int firstWrong(long from, MemorySegment target, long at, int count);

        String message(int number);
    }

    private static final class Integers implements Checked {
        private final List<MemorySegment> vectors;
        private final ElementType type;
        private final ReduceOperation operation;
        private final boolean unsigned;
        private final long[] expected = new long[BLOCK];
        // of a rank, and at last what was found
        private final long[] other = new long[BLOCK];

        Integers(List<MemorySegment> vectors, ElementType type, ReduceOperation operation) {
            this.vectors = vectors;
            this.type = type;
            this.operation = operation;
            this.unsigned = type == ElementType.UINT64;
        }

        @Override
        public int firstWrong(long from, MemorySegment target, long at, int count) {
            read(vectors.getFirst(), from, type, expected, count);
            for (int rank = 1; rank < vectors.size(); rank++) {
                read(vectors.get(rank), from, type, other, count);
                add(count);
            }
            for (int i = 0; i < count; i++) {
                expected[i] = narrowed(expected[i], type);
            }
            if (operation == ReduceOperation.AVERAGE) {
                int size = vectors.size();
                for (int i = 0; i < count; i++) {
                    expected[i] = unsigned ? Long.divideUnsigned(expected[i], size) : expected[i] / size;
                }
            }
            read(target, at, type, other, count);
            return Arrays.mismatch(expected, 0, count, other, 0, count);
        }

        private void add(int count) {
            switch (operation) {
                case SUM, AVERAGE -> {
                    for (int i = 0; i < count; i++) {
                        expected[i] += other[i];
                    }
                }
                case PRODUCT -> {
                    for (int i = 0; i < count; i++) {
                        expected[i] *= other[i];
                    }
                }
                case MIN -> {
                    for (int i = 0; i < count; i++) {
                        expected[i] = compare(expected[i], other[i]) <= 0 ? expected[i] : other[i];
                    }
                }
                case MAX -> {
                    for (int i = 0; i < count; i++) {
                        expected[i] = compare(expected[i], other[i]) >= 0 ? expected[i] : other[i];
                    }
                }
            }
        }

        private int compare(long a, long b) {
            return unsigned ? Long.compareUnsigned(a, b) : Long.compare(a, b);
        }

        @Override
        public String message(int number) {
            return other[number] + " instead of " + expected[number];
        }
    }

    private static final class Floats implements Checked {
        private final List<MemorySegment> vectors;
        private final ElementType type;
        private final ReduceOperation operation;
        private final boolean exact;
        private final double unit;
        private final double bound;
        private final double[] expected = new double[BLOCK];
        private final double[] lost = new double[BLOCK];
        private final double[] absolute = new double[BLOCK];
        private final double[] other = new double[BLOCK];

        Floats(List<MemorySegment> vectors, ElementType type, ReduceOperation operation, boolean exact) {
            this.vectors = vectors;
            this.type = type;
            this.operation = operation;
            this.exact = exact;
            this.unit = roundoff(type);
            this.bound = Math.expm1((vectors.size() - 1) * Math.log1p(unit));
        }

        @Override
        public int firstWrong(long from, MemorySegment target, long at, int count) {
            read(vectors.getFirst(), from, type, expected, count);
            for (int i = 0; i < count; i++) {
                lost[i] = 0;
                absolute[i] = Math.abs(expected[i]);
            }
            for (int rank = 1; rank < vectors.size(); rank++) {
                read(vectors.get(rank), from, type, other, count);
                add(count);
            }
            read(target, at, type, other, count);
            for (int i = 0; i < count; i++) {
                expected[i] += lost[i];
                if (operation == ReduceOperation.AVERAGE) {
                    expected[i] /= vectors.size();
                }
                if (!(Math.abs(other[i] - expected[i]) <= allowed(i))) {
                    return i;
                }
            }
            return -1;
        }

        private void add(int count) {
            for (int i = 0; i < count; i++) {
                absolute[i] += Math.abs(other[i]);
            }
            switch (operation) {
                case SUM, AVERAGE -> {
                    for (int i = 0; i < count; i++) {
                        double sum = expected[i] + other[i];
                        double part = sum - expected[i];
                        lost[i] += (expected[i] - (sum - part)) + (other[i] - part);
                        expected[i] = sum;
                    }
                }
                case PRODUCT -> {
                    for (int i = 0; i < count; i++) {
                        expected[i] *= other[i];
                    }
                }
                case MIN -> {
                    for (int i = 0; i < count; i++) {
                        expected[i] = Math.min(expected[i], other[i]);
                    }
                }
                case MAX -> {
                    for (int i = 0; i < count; i++) {
                        expected[i] = Math.max(expected[i], other[i]);
                    }
                }
            }
        }

        /** How far apart the two may be; the errors of each rounding multiply: (n − 1) u where n u is small. */
        private double allowed(int number) {
            return switch (operation) {
                case SUM -> exact ? 0 : bound * absolute[number] * SLACK;
                case AVERAGE -> (exact ? unit : bound + unit) * absolute[number] / vectors.size() * SLACK;
                // float64 is its own reference
                case PRODUCT ->
                    exact ? 0 : (type == ElementType.FLOAT64 ? 2 : 1) * bound * Math.abs(expected[number]) * SLACK;
                case MIN, MAX -> 0;
            };
        }

        @Override
        public String message(int number) {
            return other[number] + " instead of " + expected[number] + ", which is more than " + allowed(number)
                    + " apart";
        }
    }
}
