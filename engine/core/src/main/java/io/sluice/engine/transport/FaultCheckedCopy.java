package io.sluice.engine.transport;

import io.sluice.jni.Errno;
import io.sluice.jni.MemoryCopy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Access to memory that may be missing in part: a process that may write to a file can cut it short while others have
 * it mapped. The Java virtual machine turns such a fault into an {@link InternalError}, but from compiled code at some
 * later, unrelated place; C code would end the process. So user-mapped files are copied by the kernel, which reports
 * the fault. Any thread.
 */
public final class FaultCheckedCopy {
    // what is found there does not matter
    private static final MemorySegment SEEN = Arena.global().allocate(Long.BYTES, Long.BYTES);

    private FaultCheckedCopy() {}

    /**
     * Copies between segments that do not overlap.
     *
     * @param from the segment to copy from
     * @param fromOffset where the first byte comes from
     * @param to the segment to copy to; native, as the other one
     * @param toOffset where it goes
     * @param bytes how many
     * @throws MissingMemoryException if some of it is missing; some of the bytes may have been copied
     * @throws IllegalStateException if the memory was freed
     */
    public static void copy(MemorySegment from, long fromOffset, MemorySegment to, long toOffset, long bytes) {
        if (from.isMapped() || to.isMapped()) {
            int result = MemoryCopy.copyByKernel(to, toOffset, from, fromOffset, bytes);
            if (result == 0) {
                return;
            }
            if (result == -Errno.EFAULT) {
                throw new MissingMemoryException();
            }
            // the system does not allow that
        }
        MemorySegment.copy(from, fromOffset, to, toOffset, bytes);
    }

    /**
     * Looks whether a few bytes are there, before they are accessed in another way than by a copy.
     *
     * @param memory where
     * @param offset the first of them
     * @param bytes how many, 0 to 8
     * @throws MissingMemoryException if one of them is missing
     * @throws IllegalStateException if the memory was freed
     */
    public static void require(MemorySegment memory, long offset, long bytes) {
        if (memory.isMapped()) {
            copy(memory, offset, SEEN, 0, bytes);
        }
    }
}
