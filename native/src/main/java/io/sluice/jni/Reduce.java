package io.sluice.jni;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Objects;

/**
 * Reductions of arrays in C, element by element, by address or in memory segments: with AVX-512 or AVX2 where the processor has them. Any thread; not
 * for much at once on a thread that others wait for.
 *
 * <p>The result has the same bits on every processor. Operands are taken in the order given, the first one first:
 *
 * <ul>
 *   <li>Integers wrap around, as two's complement.
 *   <li>Sums and products of {@link #FLOAT32} and {@link #FLOAT64} are rounded to nearest even after each operand; those of
 *       {@link #FLOAT16} and {@link #BFLOAT16} are computed in float32, rounded there after each operand, and rounded to 16 bits
 *       once, at the end.
 *   <li>{@link #MIN} and {@link #MAX} are exact, with -0 below +0.
 *   <li>Any NaN gives NaN. Each NaN of a result is the positive quiet one without payload, such as {@link Float#NaN}.
 *   <li>An average is the sum divided by a divisor. Of integers the sum wraps around first, and the quotient is truncated
 *       towards zero. Of floats the quotient is rounded as the sum is; 16-bit floats are rounded to 16 bits after the division
 *       only.
 * </ul>
 *
 * <p>Addresses need no alignment. All of an operand's and the target's {@code count} elements must be accessible, else the
 * process ends. The target may be one of the operands, but must not overlap one otherwise.
 *
 * <p>{@code streaming} stores the result past the caches, and makes it visible to other threads before the return: faster for
 * whole results of at least {@link #streamedFrom} bytes that this processor does not read soon. It has no effect where the
 * target is an operand or cannot be aligned, or on other processors than x86-64.
 */
public final class Reduce {
    /** Type of elements: signed bytes. */
    public static final int INT8 = 0;

    /** Type of elements: unsigned bytes. */
    public static final int UINT8 = 1;

    /** Type of elements: signed integers of 4 bytes. */
    public static final int INT32 = 2;

    /** Type of elements: unsigned integers of 4 bytes. */
    public static final int UINT32 = 3;

    /** Type of elements: signed integers of 8 bytes. */
    public static final int INT64 = 4;

    /** Type of elements: unsigned integers of 8 bytes. */
    public static final int UINT64 = 5;

    /** Type of elements: IEEE 754 binary16, as {@link Float#float16ToFloat} takes it. */
    public static final int FLOAT16 = 6;

    /** Type of elements: the upper half of a float32. */
    public static final int BFLOAT16 = 7;

    /** Type of elements: {@code float}. */
    public static final int FLOAT32 = 8;

    /** Type of elements: {@code double}. */
    public static final int FLOAT64 = 9;

    /** Operation: the sum. */
    public static final int SUM = 0;

    /** Operation: the product. */
    public static final int PRODUCT = 1;

    /** Operation: the least. */
    public static final int MIN = 2;

    /** Operation: the greatest. */
    public static final int MAX = 3;

    /** The operation of the methods that average. */
    static final int AVERAGE = 4;

    /** The most operands at once. */
    public static final int MAX_OPERANDS = 64;

    /** The greatest divisor of an average. */
    public static final int MAX_DIVISOR = 1 << 24;

    private static final int[] ELEMENT_BYTES = {1, 1, 4, 4, 8, 8, 2, 2, 4, 8};

    /** Variant for every processor. */
    static final int PLAIN = 0;

    static final int AVX2 = 1;
    static final int AVX512 = 2;

    static {
        NativeLibrary.ensureAvailable();
    }

    private Reduce() {}

    /**
     * Reduces two operands: {@code target[i] = first[i] operation second[i]}.
     *
     * @param type the type of the elements, such as {@link #FLOAT32}
     * @param operation {@link #SUM}, {@link #PRODUCT}, {@link #MIN} or {@link #MAX}
     * @param target the address of the result
     * @param first the address of the first operand
     * @param second the address of the second operand
     * @param count the number of elements, 0 or more
     * @param streaming whether to store past the caches
     * @throws IllegalArgumentException if the type, operation or count is none
     */
    public static void combine(
            int type, int operation, long target, long first, long second, long count, boolean streaming) {
        check(operation != AVERAGE ? ofTwo(type, operation, target, first, second, 1, count, streaming) : -1);
    }

    /**
     * Reduces up to {@link #MAX_OPERANDS} operands in one pass; one operand gives itself.
     *
     * @param type the type of the elements
     * @param operation {@link #SUM}, {@link #PRODUCT}, {@link #MIN} or {@link #MAX}
     * @param target the address of the result
     * @param sources the address of a table with the address of each operand: 8 bytes each, in native byte order
     * @param operands the number of operands, at least 1
     * @param count the number of elements of each, 0 or more
     * @param streaming whether to store past the caches
     * @throws IllegalArgumentException if the type, operation, number of operands or count is none
     */
    public static void combineAll(
            int type, int operation, long target, long sources, int operands, long count, boolean streaming) {
        check(operation != AVERAGE ? ofTable(type, operation, target, sources, operands, 1, count, streaming) : -1);
    }

    /**
     * Adds two operands and divides: {@code target[i] = (first[i] + second[i]) / divisor}.
     *
     * @param type the type of the elements
     * @param target the address of the result
     * @param first the address of the first operand
     * @param second the address of the second operand
     * @param divisor 1 to {@link #MAX_DIVISOR}
     * @param count the number of elements, 0 or more
     * @param streaming whether to store past the caches
     * @throws IllegalArgumentException if the type, divisor or count is none
     */
    public static void average(
            int type, long target, long first, long second, int divisor, long count, boolean streaming) {
        check(ofTwo(type, AVERAGE, target, first, second, divisor, count, streaming));
    }

    /**
     * Adds up to {@link #MAX_OPERANDS} operands and divides, in one pass.
     *
     * @param type the type of the elements
     * @param target the address of the result
     * @param sources the address of a table with the address of each operand: 8 bytes each, in native byte order
     * @param operands the number of operands, at least 1
     * @param divisor 1 to {@link #MAX_DIVISOR}
     * @param count the number of elements of each, 0 or more
     * @param streaming whether to store past the caches
     * @throws IllegalArgumentException if the type, number of operands, divisor or count is none
     */
    public static void averageAll(
            int type, long target, long sources, int operands, int divisor, long count, boolean streaming) {
        check(ofTable(type, AVERAGE, target, sources, operands, divisor, count, streaming));
    }

    /**
     * Divides: {@code target[i] = source[i] / divisor}. Makes an average of a sum that is complete.
     *
     * @param type the type of the elements
     * @param target the address of the result
     * @param source the address of the dividend
     * @param divisor 1 to {@link #MAX_DIVISOR}
     * @param count the number of elements, 0 or more
     * @param streaming whether to store past the caches
     * @throws IllegalArgumentException if the type, divisor or count is none
     */
    public static void divide(int type, long target, long source, int divisor, long count, boolean streaming) {
        check(ofOne(type, target, source, divisor, count, streaming));
    }

    /**
     * Reduces two operands in segments of native memory, whose arenas cannot be closed meanwhile. Does not stream.
     *
     * @param type the type of the elements
     * @param operation {@link #SUM}, {@link #PRODUCT}, {@link #MIN} or {@link #MAX}
     * @param target the segment of the result
     * @param targetOffset where the result begins there, in bytes
     * @param first the segment of the first operand
     * @param firstOffset where it begins there, in bytes
     * @param second the segment of the second operand
     * @param secondOffset where it begins there, in bytes
     * @param count the number of elements, 0 or more
     * @throws IllegalArgumentException if the type or operation is none, the target is read-only, or a segment lies on the
     *     Java heap
     * @throws IndexOutOfBoundsException if a range exceeds its segment
     * @throws IllegalStateException if an arena is closed
     * @throws WrongThreadException if an arena is confined to another thread
     */
    public static void combine(
            int type,
            int operation,
            MemorySegment target,
            long targetOffset,
            MemorySegment first,
            long firstOffset,
            MemorySegment second,
            long secondOffset,
            long count) {
        long bytes = bytes(type, count);
        checkTarget(target, targetOffset, bytes);
        Objects.checkFromIndexSize(firstOffset, bytes, first.byteSize());
        Objects.checkFromIndexSize(secondOffset, bytes, second.byteSize());
        int result;
        try {
            result = (int) InSegments.COMBINE.invokeExact(
                    type, operation, target, targetOffset, first, firstOffset, second, secondOffset, count);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("C threw an exception", e);
        }
        check(result);
    }

    /**
     * Divides the elements of a segment of native memory, whose arena cannot be closed meanwhile.
     *
     * @param type the type of the elements
     * @param target the segment
     * @param targetOffset where the elements begin there, in bytes
     * @param divisor 1 to {@link #MAX_DIVISOR}
     * @param count the number of elements, 0 or more
     * @throws IllegalArgumentException if the type or divisor is none, or the segment is read-only or lies on the Java heap
     * @throws IndexOutOfBoundsException if the range exceeds the segment
     * @throws IllegalStateException if the arena is closed
     * @throws WrongThreadException if the arena is confined to another thread
     */
    public static void divide(int type, MemorySegment target, long targetOffset, int divisor, long count) {
        checkTarget(target, targetOffset, bytes(type, count));
        int result;
        try {
            result = (int)
                    InSegments.DIVIDE.invokeExact(type, target, targetOffset, target, targetOffset, divisor, count);
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("C threw an exception", e);
        }
        check(result);
    }

    private static long bytes(int type, long count) {
        if (type < 0 || type >= ELEMENT_BYTES.length || count < 0) {
            check(-1);
        }
        return Math.multiplyExact(count, ELEMENT_BYTES[type]);
    }

    private static void checkTarget(MemorySegment target, long offset, long bytes) {
        Objects.checkFromIndexSize(offset, bytes, target.byteSize());
        if (target.isReadOnly()) {
            throw new IllegalArgumentException("the segment of the result is read-only");
        }
    }

    /** Functions that take segments rather than addresses, so that the linker keeps their arenas open during the call. */
    private static final class InSegments {
        private static final MethodHandle COMBINE = handle(
                "sluice_reduce_two",
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.ADDRESS,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.ADDRESS,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.ADDRESS,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_LONG));
        private static final MethodHandle DIVIDE = handle(
                "sluice_reduce_divide",
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_INT,
                        ValueLayout.ADDRESS,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.ADDRESS,
                        ValueLayout.JAVA_LONG,
                        ValueLayout.JAVA_INT,
                        ValueLayout.JAVA_LONG));

        @SuppressWarnings("restricted") // calling native code is what this package is for
        private static MethodHandle handle(String function, FunctionDescriptor type) {
            return java.lang.foreign.Linker.nativeLinker()
                    .downcallHandle(SymbolLookup.loaderLookup().findOrThrow(function), type);
        }
    }

    /**
     * Returns the size of a whole result from which streaming pays on this processor, according to its caches.
     *
     * @return bytes
     */
    public static native long streamedFrom();

    /** Returns the variant in use: the best that this processor has, unless {@link #use} chose another one. */
    static native int variant();

    /**
     * Makes the whole process use a variant from now on.
     *
     * @return 0, or {@code -EINVAL} if this processor lacks it
     */
    static native int use(int variant);

    private static native int ofTwo(
            int type, int operation, long target, long first, long second, int divisor, long count, boolean streaming);

    private static native int ofTable(
            int type,
            int operation,
            long target,
            long sources,
            int operands,
            int divisor,
            long count,
            boolean streaming);

    private static native int ofOne(int type, long target, long source, int divisor, long count, boolean streaming);

    private static void check(int result) {
        if (result != 0) {
            throw new IllegalArgumentException(
                    "a type, an operation, a number of operands, a divisor or a count is out of its range");
        }
    }
}
