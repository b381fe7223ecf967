package io.sluice.cuda;

import io.sluice.jni.CudaMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * The driver's facts about an address.
 *
 * @param base where the allocation begins
 * @param bytes how long it is
 * @param bufferId another one once memory was freed and made again at the same address
 * @param ordinal of the GPU, −1 if there is none
 * @param kind one of the {@code KIND_} constants of {@link CudaMemory}
 * @param sharing one of its {@code SHARING_} constants
 */
record MemoryFacts(long base, long bytes, long bufferId, int ordinal, int kind, int sharing) {
    static MemoryFacts of(long address) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment record = arena.allocate(CudaMemory.RECORD_BYTES, Long.BYTES);
            CudaException.check(
                    CudaMemory.describe(address, record.address()),
                    "the driver does not describe the memory at 0x%x".formatted(address));
            return new MemoryFacts(
                    record.get(ValueLayout.JAVA_LONG, CudaMemory.RECORD_BASE_OFFSET),
                    record.get(ValueLayout.JAVA_LONG, CudaMemory.RECORD_LENGTH_OFFSET),
                    record.get(ValueLayout.JAVA_LONG, CudaMemory.RECORD_BUFFER_ID_OFFSET),
                    record.get(ValueLayout.JAVA_INT, CudaMemory.RECORD_ORDINAL_OFFSET),
                    record.get(ValueLayout.JAVA_INT, CudaMemory.RECORD_KIND_OFFSET),
                    record.get(ValueLayout.JAVA_INT, CudaMemory.RECORD_SHARING_OFFSET));
        }
    }

    /** Whether a range lies in the allocation. */
    boolean contains(long address, long length) {
        return address >= base && length <= bytes && address - base <= bytes - length;
    }
}
