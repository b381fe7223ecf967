package io.sluice.cuda;

import io.sluice.jni.CudaMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * The driver's facts about an address.
 *
 * @param base where the allocation begins
 * @param bytes how long it is
 * @param bufferId another one once memory was freed and made again at the same address
 * @param ordinal of the GPU, −1 if there is none
 * @param kind one of the {@code KIND_} constants of {@link CudaMemory}
 * @param sharing one of its {@code SHARING_} constants
 * @param blockId of the physical memory, if it is of the virtual-memory API
 */
record MemoryFacts(long base, long bytes, long bufferId, int ordinal, int kind, int sharing, long blockId) {
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
                    record.get(ValueLayout.JAVA_INT, CudaMemory.RECORD_SHARING_OFFSET),
                    record.get(ValueLayout.JAVA_LONG, CudaMemory.RECORD_BLOCK_ID_OFFSET));
        }
    }

    /**
     * Those of all allocations that a range is in: of the virtual-memory API several may lie side by side, as PyTorch's expandable
     * segments do. They end before the range does if something else follows.
     */
    static List<MemoryFacts> ofAll(long address, long length) {
        List<MemoryFacts> all = new ArrayList<>();
        MemoryFacts last = of(address);
        all.add(last);
        while (last.bytes > 0 && address + length - last.base > last.bytes) {
            MemoryFacts next = of(last.base + last.bytes);
            if (next.kind != last.kind
                    || next.ordinal != last.ordinal
                    || next.base != last.base + last.bytes
                    || !last.isOfVirtualMemory()
                    || !next.isOfVirtualMemory()) {
                break;
            }
            all.add(next);
            last = next;
        }
        return all;
    }

    /** As far as the driver tells: older ones do not. */
    private boolean isOfVirtualMemory() {
        return blockId != 0;
    }

    /** Whether the allocation is still the same, and not one that was made at its address after it. */
    boolean isCurrent() {
        return equals(of(base));
    }

    /** Whether a range lies in the allocation. */
    boolean contains(long address, long length) {
        return address >= base && length <= bytes && address - base <= bytes - length;
    }
}
