package io.sluice.collectives.mapped;

import io.sluice.collectives.reduce.OperationCode;
import io.sluice.collectives.reduce.TypeCode;
import io.sluice.jni.Reduce;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reduces elements of all ranks in the order of the ranks, in one pass in C, by addresses: the caller keeps the memory
 * from ending meanwhile.
 *
 * @param type a {@link TypeCode}
 * @param operation an {@link OperationCode}, or 0 if nothing is reduced
 * @param elementBytes the length of an element
 */
public record Operands(int type, int operation, int elementBytes) {
    private static final int FIRST_TYPE = TypeCode.INT8 - Reduce.INT8;
    private static final int FIRST_OPERATION = OperationCode.SUM - Reduce.SUM;

    /** Puts an operand into a table; it must be accessible. */
    void put(MemorySegment table, int index, @Nullable MemorySegment operand, long offset, long length) {
        if (operand == null || !operand.scope().isAlive()) {
            throw new IllegalStateException("a region of rank " + index + " is closed");
        }
        Objects.checkFromIndexSize(offset, length, operand.byteSize());
        table.setAtIndex(ValueLayout.JAVA_LONG, index, operand.address() + offset);
    }

    /**
     * Reduces what was put.
     *
     * @param streaming whether to store past the caches
     */
    void reduce(MemorySegment table, int operands, MemorySegment target, long offset, long length, boolean streaming) {
        Objects.checkFromIndexSize(offset, length, target.byteSize());
        long to = target.address() + offset;
        long count = length / elementBytes;
        long from = table.address();
        if (operation == OperationCode.AVERAGE) {
            Reduce.averageAll(type - FIRST_TYPE, to, from, operands, operands, count, streaming);
        } else {
            Reduce.combineAll(type - FIRST_TYPE, operation - FIRST_OPERATION, to, from, operands, count, streaming);
        }
    }
}
