package io.sluice.cuda;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.TreeMap;

/** A reserved range of a GPU's addresses with allocations of the driver side by side, as PyTorch's expandable segments have them. */
final class ChunkedMemory implements AutoCloseable {
    // CUmemAllocationProp: pinned, a file descriptor, on a device, whose number follows
    private static final int PROPERTIES_BYTES = 32;
    private static final int HANDLE_TYPES_OFFSET = 4;
    private static final int LOCATION_OFFSET = 8;
    private static final int DEVICE_OFFSET = 12;
    // CUmemAccessDesc
    private static final int ACCESS_BYTES = 12;
    private static final int READ_WRITE = 3;

    private final int ordinal;
    private final long chunkBytes;
    private final long bytes;
    private final long address;
    private final Map<Integer, Long> handles = new TreeMap<>();

    ChunkedMemory(int ordinal, int chunks) {
        this.ordinal = ordinal;
        long device = CudaException.check(CudaDevice.open(ordinal), "no GPU");
        CudaException.check(CudaDevice.makeCurrent(device), "no context");
        this.chunkBytes = CudaException.check(CudaMemory.granularity(device), "no granularity");
        this.bytes = chunks * chunkBytes;
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment made = arena.allocate(JAVA_LONG);
            call("cuMemAddressReserve", made, bytes, 0L, 0L, 0L);
            address = made.get(JAVA_LONG, 0);
        }
    }

    long chunkBytes() {
        return chunkBytes;
    }

    /** Where a chunk lies, or would. */
    long address(int chunk) {
        return address + chunk * chunkBytes;
    }

    /** Makes an allocation for a chunk. */
    void map(int chunk) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment properties = arena.allocate(PROPERTIES_BYTES, Long.BYTES);
            properties.set(JAVA_INT, 0, 1);
            properties.set(JAVA_INT, HANDLE_TYPES_OFFSET, 1);
            properties.set(JAVA_INT, LOCATION_OFFSET, 1);
            properties.set(JAVA_INT, DEVICE_OFFSET, ordinal);
            MemorySegment handle = arena.allocate(JAVA_LONG);
            call("cuMemCreate", handle, chunkBytes, properties, 0L);
            handles.put(chunk, handle.get(JAVA_LONG, 0));
            call("cuMemMap", address(chunk), chunkBytes, 0L, handle.get(JAVA_LONG, 0), 0L);
            MemorySegment access = arena.allocate(ACCESS_BYTES, Long.BYTES);
            access.set(JAVA_INT, 0, 1);
            access.set(JAVA_INT, Integer.BYTES, ordinal);
            access.set(JAVA_INT, 2 * Integer.BYTES, READ_WRITE);
            call("cuMemSetAccess", address(chunk), chunkBytes, access, 1L);
        }
        fill(chunk, (byte) 0);
    }

    void unmap(int chunk) {
        call("cuMemUnmap", address(chunk), chunkBytes);
        call("cuMemRelease", handles.remove(chunk));
    }

    void fill(int chunk, byte value) {
        SoftGpu.bytes(ordinal, address(chunk), chunkBytes).fill(value);
    }

    byte[] read(long from, long length) {
        return SoftGpu.bytes(ordinal, from, length).contents().toArray(JAVA_BYTE);
    }

    @Override
    public void close() {
        for (int chunk : handles.keySet().toArray(Integer[]::new)) {
            unmap(chunk);
        }
        call("cuMemAddressFree", address, bytes);
    }

    private static void call(String name, Object... arguments) {
        MemoryLayout[] types = new MemoryLayout[arguments.length];
        for (int i = 0; i < types.length; i++) {
            types[i] = arguments[i] instanceof MemorySegment ? ADDRESS : JAVA_LONG;
        }
        try {
            int result = (int) SoftGpu.function(name, FunctionDescriptor.of(JAVA_INT, types))
                    .invokeWithArguments(arguments);
            assertThat(result).as(name).isZero();
        } catch (Throwable e) {
            throw new AssertionError(e);
        }
    }
}
