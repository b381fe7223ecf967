package io.sluice.collectives.reduce;

import java.lang.foreign.MemorySegment;

/**
 * Reduces elements of memory, without allocation. Offsets are in bytes and need no alignment. The target may be the same
 * range as either operand, but must not overlap one otherwise.
 */
public interface Reducer {
    /**
     * Sets each element of the target to the reduction of the elements of two operands, in this order.
     *
     * @param type a {@link TypeCode}
     * @param operation an {@link OperationCode}; for an average the sum
     * @param count elements, 0 or more
     */
    void reduce(
            int type,
            int operation,
            MemorySegment target,
            long targetOffset,
            MemorySegment first,
            long firstOffset,
            MemorySegment second,
            long secondOffset,
            long count);

    /**
     * Divides each element by a number: integers towards zero, floating-point numbers with one rounding.
     *
     * @param type a {@link TypeCode}
     * @param count elements, 0 or more
     * @param divisor 1 or more
     */
    void divide(int type, MemorySegment target, long targetOffset, long count, int divisor);
}
