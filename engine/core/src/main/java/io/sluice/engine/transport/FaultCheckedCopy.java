package io.sluice.engine.transport;

import io.sluice.jni.Errno;
import io.sluice.jni.MemoryCopy;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Access to memory that may be partly missing: a process that may write to a file can truncate it while others have it
 * mapped. The Java virtual machine turns such a fault into an {@link InternalError}, but from compiled code at some
 * later, unrelated place; C code would end the process. So the kernel copies user-mapped files, and reports the fault.
 * Thread-safe.
 */
public final class FaultCheckedCopy {
    // its contents do not matter
    private static final MemorySegment SEEN = Arena.global().allocate(Long.BYTES, Long.BYTES);

    private FaultCheckedCopy() {}

    /**
     * Copies between segments that do not overlap.
     *
     * @param from the segment to copy from
     * @param fromOffset the offset of the first byte there
     * @param to the segment to copy to; native, as the other one
     * @param toOffset the offset of the first byte there
     * @param bytes the number of bytes
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
     * Checks that a few bytes are present, before they are accessed other than by a copy.
     *
     * @param memory the memory
     * @param offset the offset of the first byte
     * @param bytes the number of bytes, 0 to 8
     * @throws MissingMemoryException if one of them is missing
     * @throws IllegalStateException if the memory was freed
     */
    public static void require(MemorySegment memory, long offset, long bytes) {
        if (memory.isMapped()) {
            copy(memory, offset, SEEN, 0, bytes);
        }
    }
}
