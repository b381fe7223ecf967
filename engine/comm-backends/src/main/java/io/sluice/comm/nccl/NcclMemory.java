package io.sluice.comm.nccl;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.transport.RegisteredMemory;
import io.sluice.jni.CudaLibrary;
import io.sluice.jni.CudaMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Memory of the engine's GPU that is a region. The driver confirms it once more for each request: a kernel of NCCL that meets an
 * address without memory would end all work of the process on the GPU. Any thread.
 */
final class NcclMemory implements RegisteredMemory {
    private final RegionMemory memory;
    // those that it lies in, from the first on: of the virtual-memory API there may be several
    private final List<Allocation> allocations;

    private NcclMemory(RegionMemory memory, List<Allocation> allocations) {
        this.memory = memory;
        this.allocations = List.copyOf(allocations);
    }

    private record Allocation(long base, long bytes, long bufferId, int kind) {
        static Allocation of(long address, MemorySegment record) {
            int described = CudaMemory.describe(address, record.address());
            if (described < 0) {
                throw new RegistrationException("the driver does not describe the memory at 0x%x: %s"
                        .formatted(address, CudaLibrary.errorText(described)));
            }
            return new Allocation(
                    record.get(ValueLayout.JAVA_LONG, CudaMemory.RECORD_BASE_OFFSET),
                    record.get(ValueLayout.JAVA_LONG, CudaMemory.RECORD_LENGTH_OFFSET),
                    record.get(ValueLayout.JAVA_LONG, CudaMemory.RECORD_BUFFER_ID_OFFSET),
                    record.get(ValueLayout.JAVA_INT, CudaMemory.RECORD_KIND_OFFSET));
        }

        boolean isCurrent(MemorySegment record) {
            return CudaMemory.describe(base, record.address()) >= 0
                    && record.get(ValueLayout.JAVA_LONG, CudaMemory.RECORD_BASE_OFFSET) == base
                    && record.get(ValueLayout.JAVA_LONG, CudaMemory.RECORD_LENGTH_OFFSET) == bytes
                    && record.get(ValueLayout.JAVA_LONG, CudaMemory.RECORD_BUFFER_ID_OFFSET) == bufferId
                    && record.get(ValueLayout.JAVA_INT, CudaMemory.RECORD_KIND_OFFSET) == kind;
        }
    }

    /**
     * Registers memory that the driver confirms.
     *
     * @throws RegistrationException if it does not, or it is of another GPU
     */
    static NcclMemory of(RegionMemory memory, String device) {
        if (!device.equals(memory.device())) {
            throw new RegistrationException("the transport nccl of this engine carries memory of " + device
                    + " alone, and not of " + memory.device() + "; see SLUICE_NCCL_GPU");
        }
        List<Allocation> allocations = new ArrayList<>();
        long end = memory.address() + memory.length();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment record = arena.allocate(CudaMemory.RECORD_BYTES, Long.BYTES);
            for (long at = memory.address(); at < end; ) {
                Allocation next = Allocation.of(at, record);
                if (next.kind() != CudaMemory.KIND_DEVICE || next.bytes() < 1) {
                    throw new RegistrationException(
                            "the driver knows no memory of a GPU at 0x%x: was it freed?".formatted(at));
                }
                allocations.add(next);
                at = next.base() + next.bytes();
            }
        }
        return new NcclMemory(memory, allocations);
    }

    /**
     * Whether it is still what was registered.
     *
     * @param record of {@link CudaMemory#RECORD_BYTES} bytes, overwritten
     */
    boolean isCurrent(MemorySegment record) {
        if (!memory.isAlive()) {
            return false;
        }
        for (int i = 0; i < allocations.size(); i++) {
            if (!allocations.get(i).isCurrent(record)) {
                return false;
            }
        }
        return true;
    }
}
