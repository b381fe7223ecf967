package io.sluice.cuda;

import io.sluice.jni.CudaMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory of the host, zeroed, that a GPU reaches as long as this is open. */
final class PinnedMemory implements AutoCloseable {
    private final long device;
    private final GpuMetrics metrics;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;
    private final long deviceAddress;

    PinnedMemory(long device, GpuMetrics metrics, long bytes) {
        this.device = device;
        this.metrics = metrics;
        try {
            // no other memory shares its pages: the driver takes no page twice
            long page = PinnedRanges.PAGE_BYTES;
            segment = arena.allocate((bytes + page - 1) / page * page, page);
            deviceAddress = CudaException.check(
                    CudaMemory.registerHost(device, segment.address(), segment.byteSize()),
                    "cannot pin " + bytes + " bytes");
        } catch (RuntimeException | Error e) {
            arena.close();
            throw e;
        }
        metrics.pinned(segment.byteSize());
    }

    MemorySegment segment() {
        return segment;
    }

    /** Where a GPU sees its beginning. */
    long deviceAddress() {
        return deviceAddress;
    }

    /** No work of a GPU on it is under way. */
    @Override
    public void close() {
        CudaMemory.unregisterHost(device, segment.address());
        metrics.pinned(-segment.byteSize());
        arena.close();
    }
}
