package io.sluice.cuda;

import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.transport.DmaBufferMemory.Buffer;
import io.sluice.engine.transport.DmaBufferMemory.Flush;
import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaLibrary;
import io.sluice.jni.CudaMemory;
import io.sluice.jni.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jspecify.annotations.Nullable;

/** Exports memory of GPUs to RDMA adapters, as DMA buffers of the kernel. Any thread. */
final class DmaBuffers {
    private DmaBuffers() {}

    /**
     * The driver's support for access of adapters to a GPU.
     *
     * @param areMade whether memory is exported
     * @param areOrdered whether the GPU itself sees writes of adapters in order
     * @param areFlushed whether the host can flush them
     */
    private record Support(boolean areMade, boolean areOrdered, boolean areFlushed) {
        private static final int BY_HOST = 1;

        static Support of(int ordinal) {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment record = GpuInfo.query(ordinal, arena);
                return new Support(
                        record.get(ValueLayout.JAVA_INT, CudaDevice.RECORD_DMA_BUFFERS_OFFSET) != 0,
                        record.get(ValueLayout.JAVA_INT, CudaDevice.RECORD_RDMA_ORDERING_OFFSET) != 0,
                        (record.get(ValueLayout.JAVA_INT, CudaDevice.RECORD_RDMA_FLUSH_OFFSET) & BY_HOST) != 0);
            }
        }
    }

    /**
     * Exports the pages of a region. Blocks.
     *
     * @throws RegistrationException if the driver cannot, or could not keep the order of what adapters write
     */
    static Buffer export(RegionMemory memory, Gpu gpu) {
        Support support = Support.of(gpu.ordinal());
        if (!support.areMade()) {
            throw new RegistrationException("the driver exports no memory of " + gpu.id()
                    + " as a DMA buffer: that takes NVIDIA's open kernel modules, and Linux 5.12");
        }
        if (!support.areOrdered() && !support.areFlushed()) {
            throw new RegistrationException("the host cannot flush what adapters write to " + gpu.id());
        }
        long mask = Memory.pageSize() - 1L;
        long start = memory.address() & ~mask;
        long end = (memory.address() + memory.length() + mask) & ~mask;
        int descriptor = CudaMemory.dmaBuffer(gpu.device(), start, end - start);
        if (descriptor < 0) {
            throw new RegistrationException("no DMA buffer of " + memory + ": " + CudaLibrary.errorText(descriptor));
        }
        return new Buffer(descriptor, memory.address() - start);
    }

    /** Returns the flush that must follow writes of adapters to a GPU; null if it orders them itself. */
    static @Nullable Flush flush(Gpu gpu) {
        return Support.of(gpu.ordinal()).areOrdered() ? null : new HostFlush(gpu);
    }

    private record HostFlush(Gpu gpu) implements Flush {
        @Override
        public void flush() {
            CudaException.check(
                    CudaMemory.flushRemoteWrites(gpu.device()),
                    "what adapters wrote to " + gpu.id() + " is not flushed");
        }
    }
}
