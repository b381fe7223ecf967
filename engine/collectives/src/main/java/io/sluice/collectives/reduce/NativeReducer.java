package io.sluice.collectives.reduce;

import io.sluice.jni.Reduce;
import java.lang.foreign.MemorySegment;

/**
 * Reductions in C, with the same bits as {@link PlainReducer} gives. That one does what is not worth a call of C, and what
 * C must not touch: memory on the Java heap, and files that others may truncate, which would end the process. Arenas
 * cannot be closed during a call, so a region that the user closes too early costs an exception at most.
 */
public final class NativeReducer implements Reducer {
    private static final int FIRST_TYPE = TypeCode.INT8 - Reduce.INT8;
    private static final int FIRST_OPERATION = OperationCode.SUM - Reduce.SUM;
    // below it a call of C takes longer than a loop
    private static final long FEWEST = 16;

    private final PlainReducer plain = new PlainReducer();

    /** Creates it, and links the functions, so that no poller does. */
    public NativeReducer() {
        MemorySegment none = MemorySegment.NULL;
        Reduce.combine(Reduce.INT8, Reduce.SUM, none, 0, none, 0, none, 0, 0);
        Reduce.divide(Reduce.INT8, none, 0, 1, 0);
    }

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
        if (count < FEWEST || isForJava(target) || isForJava(first) || isForJava(second)) {
            plain.reduce(type, operation, target, targetOffset, first, firstOffset, second, secondOffset, count);
            return;
        }
        int code = (operation == OperationCode.AVERAGE ? OperationCode.SUM : operation) - FIRST_OPERATION;
        Reduce.combine(type - FIRST_TYPE, code, target, targetOffset, first, firstOffset, second, secondOffset, count);
    }

    @Override
    public void divide(int type, MemorySegment target, long targetOffset, long count, int divisor) {
        if (count < FEWEST || isForJava(target)) {
            plain.divide(type, target, targetOffset, count, divisor);
        } else {
            Reduce.divide(type - FIRST_TYPE, target, targetOffset, divisor, count);
        }
    }

    private static boolean isForJava(MemorySegment memory) {
        return memory.isMapped() || !memory.isNative();
    }
}
