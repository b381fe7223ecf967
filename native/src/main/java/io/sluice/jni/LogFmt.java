package io.sluice.jni;

import static io.sluice.jni.Downcall.INT;
import static io.sluice.jni.Downcall.LONG;
import static io.sluice.jni.Downcall.MEMORY;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Rows of bfloat16 in LogFMT of 10 bits, in C: the format in which DeepEP's low-latency combine returns what is below 1 and
 * varies. Segments, slices and exceptions are as those of {@link ExpertKernels}; the result has the same bits on every
 * processor.
 *
 * <p>A row begins with the greatest and the least absolute value of each {@link ExpertKernels#GROUP} channels, two bfloat16.
 * Then come its sections, without gaps: {@value #SECTION} channels each where {@code hidden} is a multiple of that, else 512,
 * the last one perhaps fewer. A section is encoded if in each of its groups the greatest value is below 1 and normal, and the
 * least one below the greatest; else it is copied. Encoded, 16 channels take 20 bytes: 16 codes of 9 bits from the lowest bit
 * on, then 16 signs.
 *
 * <p>In a group whose values have logarithms (to base 2) from {@code low}, though at most 32 below {@code high}, to {@code
 * high}, {@code step = (high - low) / 510}. Code {@code c} above 0 means {@code 2^(low + (c - 1) * step)}; 0 means zero. A
 * value has the code that is nearest to it (not to its logarithm); one far enough below {@code low} becomes zero, as denormal
 * ones do.
 *
 * <p>A step is at most 4.5 % of the value: of random normal values about 1 %, and their relative error is 0.4 %. A section with
 * a NaN or an infinity is copied. (DeepEP encodes a NaN as zero.)
 */
public final class LogFmt {
    /** Channels that are encoded or copied together. */
    public static final int SECTION = 1024;

    private static final int EXTREMES_BYTES = 4;

    private static final MethodHandle ENCODE = Downcall.handle(
            "sluice_experts_encode_logfmt", MEMORY, LONG, LONG, MEMORY, LONG, MEMORY, LONG, LONG, INT, INT, INT);
    private static final MethodHandle DECODE =
            Downcall.handle("sluice_experts_decode_logfmt", MEMORY, LONG, LONG, INT, MEMORY, LONG, LONG, INT, INT, INT);

    private LogFmt() {}

    /**
     * Returns the most bytes of an encoded row, which it has where every section is copied.
     *
     * @param hidden the number of channels
     * @return bytes
     * @throws IllegalArgumentException if the number is out of its range
     */
    public static long maxBytes(int hidden) {
        ExpertKernels.checkHidden(hidden);
        return 2L * hidden + (long) EXTREMES_BYTES * (hidden / ExpertKernels.GROUP);
    }

    /**
     * Encodes rows of bfloat16.
     *
     * @param to the segment of the encoded rows
     * @param toOffset where row 0 begins there, in bytes
     * @param toStride bytes from one encoded row to the next; of each up to {@link #maxBytes} are written
     * @param sizes where to write how many bytes each row has: integers of 4 bytes
     * @param sizesOffset where row 0's lies there, in bytes
     * @param from the segment of the rows
     * @param fromOffset where row 0 begins there, in bytes
     * @param fromStride bytes from one row to the next
     * @param hidden the number of channels
     * @param first the first row
     * @param count the number of rows, 0 or more
     */
    public static void encode(
            MemorySegment to,
            long toOffset,
            long toStride,
            MemorySegment sizes,
            long sizesOffset,
            MemorySegment from,
            long fromOffset,
            long fromStride,
            int hidden,
            int first,
            int count) {
        Downcall.checkTarget(to);
        Downcall.checkTarget(sizes);
        Downcall.checkRows(to, toOffset, toStride, maxBytes(hidden), first, count);
        Downcall.checkTable(sizes, sizesOffset, Integer.BYTES, 1, first, count);
        Downcall.checkRows(from, fromOffset, fromStride, 2L * hidden, first, count);
        long done;
        try {
            done = (long) ENCODE.invokeExact(
                    to, toOffset, toStride, sizes, sizesOffset, from, fromOffset, fromStride, hidden, first, count);
        } catch (Throwable e) {
            throw Downcall.failure(e);
        }
        Downcall.checkDone(done, count);
    }

    /**
     * Decodes rows: any bytes are some rows, and none leads a call beyond {@link #maxBytes} of a row.
     *
     * @param to the segment of the floats
     * @param toOffset where row 0 begins there, in bytes
     * @param toStride bytes from one row to the next
     * @param toForm {@link ExpertKernels#BFLOAT16} or {@link ExpertKernels#FLOAT32}
     * @param from the segment of the encoded rows
     * @param fromOffset where row 0 begins there, in bytes
     * @param fromStride bytes from one encoded row to the next
     * @param hidden the number of channels
     * @param first the first row
     * @param count the number of rows, 0 or more
     */
    public static void decode(
            MemorySegment to,
            long toOffset,
            long toStride,
            int toForm,
            MemorySegment from,
            long fromOffset,
            long fromStride,
            int hidden,
            int first,
            int count) {
        Downcall.checkTarget(to);
        Downcall.checkRows(to, toOffset, toStride, ExpertKernels.floatBytes(toForm) * hidden, first, count);
        Downcall.checkRows(from, fromOffset, fromStride, maxBytes(hidden), first, count);
        long done;
        try {
            done = (long) DECODE.invokeExact(
                    to, toOffset, toStride, toForm, from, fromOffset, fromStride, hidden, first, count);
        } catch (Throwable e) {
            throw Downcall.failure(e);
        }
        Downcall.checkDone(done, count);
    }
}
