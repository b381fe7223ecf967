package io.sluice.comm;

import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaMemory;
import io.sluice.jni.CudaStream;
import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Words in memory of a GPU, by its copies. */
final class SoftCopies {
    private static final int PAGE = 4096;

    private SoftCopies() {}

    static void write(int ordinal, long address, long value) {
        copy(ordinal, address, value, true);
    }

    static long read(int ordinal, long address) {
        return copy(ordinal, address, 0, false);
    }

    private static long copy(int ordinal, long address, long value, boolean isWrite) {
        long device = CudaDevice.open(ordinal);
        long stream = CudaStream.open(device, 1);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment host = arena.allocate(PAGE, PAGE);
            long pinned = CudaMemory.registerHost(device, host.address(), PAGE);
            host.set(ValueLayout.JAVA_LONG, 0, value);
            MemorySegment request = arena.allocate(CudaStream.REQUEST_BYTES, Long.BYTES);
            request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_STREAM_OFFSET, stream);
            request.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_OPERATION_OFFSET, CudaStream.COPY);
            request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_DESTINATION_OFFSET, isWrite ? address : pinned);
            request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_SOURCE_OFFSET, isWrite ? pinned : address);
            request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_LENGTH_OFFSET, Long.BYTES);
            if (CudaStream.submit(request.address(), 1) != 1) {
                throw new AssertionError("a copy was refused");
            }
            Patience.until("the copy is done", () -> CudaStream.query(stream) != CudaStream.NOT_READY);
            if (CudaStream.query(stream) != 0) {
                throw new AssertionError("the GPU does not reach it");
            }
            long found = host.get(ValueLayout.JAVA_LONG, 0);
            CudaMemory.unregisterHost(device, host.address());
            return found;
        } finally {
            CudaStream.destroy(stream);
            CudaDevice.close(device);
        }
    }
}
