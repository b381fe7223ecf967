package io.sluice.cuda;

import io.sluice.jni.CudaMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Memory of the host, zeroed, that a GPU reaches as long as this is open. */
final class PinnedMemory implements AutoCloseable {
    private static final long PAGE_BYTES = 4096;

    private final long device;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment segment;
    private final long deviceAddress;

    PinnedMemory(long device, long bytes) {
        this.device = device;
        try {
            // no other memory shares its pages: the driver takes no page twice
            segment = arena.allocate((bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES, PAGE_BYTES);
            deviceAddress = CudaException.check(
                    CudaMemory.registerHost(device, segment.address(), segment.byteSize()),
                    "cannot pin " + bytes + " bytes");
        } catch (RuntimeException | Error e) {
            arena.close();
            throw e;
        }
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
        arena.close();
    }
}
