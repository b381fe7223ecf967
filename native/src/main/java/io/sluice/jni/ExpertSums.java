package io.sluice.jni;

import static io.sluice.jni.Downcall.INT;
import static io.sluice.jni.Downcall.LONG;
import static io.sluice.jni.Downcall.MEMORY;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;

/**
 * Sums of rows in C, as expert parallelism combines what the experts return. Segments, slices, tables and exceptions are as
 * those of {@link ExpertKernels}.
 *
 * <p>The result has the same bits on every processor. A channel's sum begins at +0 in float32; for each operand that there is,
 * in order, the float32 product of weight and value is rounded, added and rounded again, never fused; a bias is added last;
 * and the sum is rounded once to bfloat16, to nearest even. Each NaN of a result is the positive quiet one without payload. So
 * a row without operands is zeros.
 */
public final class ExpertSums {
    /** The most operands of a row, those that are absent not counted. */
    public static final int MAX_OPERANDS = 128;

    private static final MethodHandle OF_SLOTS = Downcall.handle(
            "sluice_experts_sum_slots",
            MEMORY,
            LONG,
            LONG,
            MEMORY,
            LONG,
            LONG,
            MEMORY,
            LONG,
            MEMORY,
            LONG,
            INT,
            INT,
            INT,
            INT,
            INT);
    private static final MethodHandle OF_ROWS = Downcall.handle(
            "sluice_experts_sum_rows",
            MEMORY,
            LONG,
            LONG,
            MEMORY,
            LONG,
            LONG,
            LONG,
            MEMORY,
            LONG,
            MEMORY,
            LONG,
            LONG,
            INT,
            INT,
            INT,
            INT);
    private static final MethodHandle AT = Downcall.handle(
            "sluice_experts_sum_at",
            MEMORY,
            LONG,
            LONG,
            MEMORY,
            LONG,
            MEMORY,
            LONG,
            MEMORY,
            LONG,
            LONG,
            INT,
            INT,
            INT,
            INT,
            INT);

    private ExpertSums() {}

    /**
     * Adds what each token's experts returned, by weight: token {@code i}'s {@code k}-th operand lies in slot {@code i *
     * operands + k}.
     *
     * @param to the segment of the sums, bfloat16
     * @param toOffset where token 0's begins there, in bytes
     * @param toStride bytes from one token's to the next
     * @param from the segment of the slots
     * @param fromOffset where slot 0 begins there, in bytes
     * @param fromStride bytes from one slot to the next, at least those of a row: see {@link LogFmt#maxBytes}
     * @param choices the expert of each slot, 8 bytes: below 0 if there is none, so that the slot is not read
     * @param choicesOffset where slot 0's lies there, in bytes
     * @param weights the weight of each slot, float32
     * @param weightsOffset where slot 0's lies there, in bytes
     * @param form {@link ExpertKernels#BFLOAT16} or {@link ExpertKernels#LOGFMT}
     * @param hidden the number of channels
     * @param operands slots a token, 1 to {@link #MAX_OPERANDS}
     * @param first the first token
     * @param count the number of tokens, 0 or more
     */
    public static void ofSlots(
            MemorySegment to,
            long toOffset,
            long toStride,
            MemorySegment from,
            long fromOffset,
            long fromStride,
            MemorySegment choices,
            long choicesOffset,
            MemorySegment weights,
            long weightsOffset,
            int form,
            int hidden,
            int operands,
            int first,
            int count) {
        checkSums(to, toOffset, toStride, hidden, operands, first, count);
        long slotBytes = rowBytes(form, hidden);
        if (fromStride < slotBytes || (fromStride > from.byteSize() && count > 0)) {
            throw new IllegalArgumentException("slots of " + fromStride + " bytes in a segment of " + from.byteSize()
                    + "; a row has " + slotBytes);
        }
        if (count > 0) {
            // a token's slots as one row of them all
            long tokenStride = Math.multiplyExact(fromStride, operands);
            Downcall.checkRows(from, fromOffset, tokenStride, tokenStride - fromStride + slotBytes, first, count);
        }
        Downcall.checkTable(choices, choicesOffset, Long.BYTES, operands, first, count);
        Downcall.checkTable(weights, weightsOffset, Float.BYTES, operands, first, count);
        long done;
        try {
            done = (long) OF_SLOTS.invokeExact(
                    to,
                    toOffset,
                    toStride,
                    from,
                    fromOffset,
                    fromStride,
                    choices,
                    choicesOffset,
                    weights,
                    weightsOffset,
                    form,
                    hidden,
                    operands,
                    first,
                    count);
        } catch (Throwable e) {
            throw Downcall.failure(e);
        }
        Downcall.checkDone(done, count);
    }

    /**
     * Adds rows of bfloat16 of one segment without weights: operand {@code k} of sum {@code i} is row {@code indices[i *
     * operands + k]}.
     *
     * @param to the segment of the sums, bfloat16
     * @param toOffset where sum 0 begins there, in bytes
     * @param toStride bytes from one sum to the next
     * @param from the segment of the rows
     * @param fromOffset where row 0 begins there, in bytes
     * @param fromStride bytes from one row to the next, at least 1
     * @param indices integers of 4 bytes, below 0 for no operand
     * @param indicesOffset where element 0 lies there, in bytes
     * @param bias rows of bfloat16 to add last, one a sum; {@code null} for none
     * @param biasOffset where row 0 of it begins there, in bytes
     * @param biasStride bytes from one row of it to the next
     * @param hidden the number of channels
     * @param operands elements of {@code indices} a sum, at least 1; at most {@link #MAX_OPERANDS} of them name rows
     * @param first the first sum
     * @param count the number of sums, 0 or more
     */
    public static void ofRows(
            MemorySegment to,
            long toOffset,
            long toStride,
            MemorySegment from,
            long fromOffset,
            long fromStride,
            MemorySegment indices,
            long indicesOffset,
            @Nullable MemorySegment bias,
            long biasOffset,
            long biasStride,
            int hidden,
            int operands,
            int first,
            int count) {
        checkSums(to, toOffset, toStride, hidden, operands, first, count);
        long rows = Downcall.rowsIn(from, fromOffset, fromStride, 2L * hidden);
        Downcall.checkTable(indices, indicesOffset, Integer.BYTES, operands, first, count);
        checkBias(bias, biasOffset, biasStride, hidden, first, count);
        long done;
        try {
            done = (long) OF_ROWS.invokeExact(
                    to,
                    toOffset,
                    toStride,
                    from,
                    fromOffset,
                    fromStride,
                    rows,
                    indices,
                    indicesOffset,
                    Downcall.orNull(bias),
                    biasOffset,
                    biasStride,
                    hidden,
                    operands,
                    first,
                    count);
        } catch (Throwable e) {
            throw Downcall.failure(e);
        }
        Downcall.checkDone(done, count);
    }

    /**
     * Adds rows of any memory: operand {@code k} of sum {@code i} begins at {@code addresses[i * operands + k]}. All of a row,
     * of LogFMT {@link LogFmt#maxBytes} bytes, must be accessible until the return, else the process ends.
     *
     * @param to the segment of the sums, bfloat16
     * @param toOffset where sum 0 begins there, in bytes
     * @param toStride bytes from one sum to the next
     * @param addresses 8 bytes in native byte order, 0 for no operand; only this process may write to it
     * @param addressesOffset where element 0 lies there, in bytes
     * @param weights the weight of each operand, float32; {@code null} for a sum without weights
     * @param weightsOffset where element 0's lies there, in bytes
     * @param bias rows of bfloat16 to add last, one a sum; {@code null} for none
     * @param biasOffset where row 0 of it begins there, in bytes
     * @param biasStride bytes from one row of it to the next
     * @param form {@link ExpertKernels#BFLOAT16} or {@link ExpertKernels#LOGFMT}
     * @param hidden the number of channels
     * @param operands elements of {@code addresses} a sum, at least 1; at most {@link #MAX_OPERANDS} of them name rows
     * @param first the first sum
     * @param count the number of sums, 0 or more
     */
    public static void at(
            MemorySegment to,
            long toOffset,
            long toStride,
            MemorySegment addresses,
            long addressesOffset,
            @Nullable MemorySegment weights,
            long weightsOffset,
            @Nullable MemorySegment bias,
            long biasOffset,
            long biasStride,
            int form,
            int hidden,
            int operands,
            int first,
            int count) {
        checkSums(to, toOffset, toStride, hidden, operands, first, count);
        rowBytes(form, hidden);
        Downcall.checkTable(addresses, addressesOffset, Long.BYTES, operands, first, count);
        if (weights != null) {
            Downcall.checkTable(weights, weightsOffset, Float.BYTES, operands, first, count);
        }
        checkBias(bias, biasOffset, biasStride, hidden, first, count);
        long done;
        try {
            done = (long) AT.invokeExact(
                    to,
                    toOffset,
                    toStride,
                    addresses,
                    addressesOffset,
                    Downcall.orNull(weights),
                    weightsOffset,
                    Downcall.orNull(bias),
                    biasOffset,
                    biasStride,
                    form,
                    hidden,
                    operands,
                    first,
                    count);
        } catch (Throwable e) {
            throw Downcall.failure(e);
        }
        Downcall.checkDone(done, count);
    }

    private static void checkSums(
            MemorySegment to, long offset, long stride, int hidden, int operands, int first, int count) {
        ExpertKernels.checkHidden(hidden);
        if (operands < 1) {
            throw new IllegalArgumentException("a sum has at least 1 operand: " + operands);
        }
        Downcall.checkTarget(to);
        Downcall.checkRows(to, offset, stride, 2L * hidden, first, count);
    }

    private static void checkBias(
            @Nullable MemorySegment bias, long offset, long stride, int hidden, int first, int count) {
        if (bias != null) {
            Downcall.checkRows(bias, offset, stride, 2L * hidden, first, count);
        }
    }

    private static long rowBytes(int form, int hidden) {
        return switch (form) {
            case ExpertKernels.BFLOAT16 -> 2L * hidden;
            case ExpertKernels.LOGFMT -> LogFmt.maxBytes(hidden);
            default -> throw new IllegalArgumentException("no form of operands: " + form);
        };
    }
}
