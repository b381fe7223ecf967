package io.sluice.jni;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;

/** A GPU in software that takes libcuda's place in this virtual machine, opened with Sluice's kernels, a stream and pinned memory. */
final class SoftGpu implements AutoCloseable {
    static final int PINNED_BYTES = 1 << 20;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final long WORD = PINNED_BYTES - 8;

    final long device;
    final long stream;
    final MemorySegment pinned;
    final long pinnedAddress;

    private final Arena arena = Arena.ofShared();
    private final long kernels;
    private final MemorySegment request = arena.allocate(CudaStream.REQUEST_BYTES, 8);
    private long last;

    SoftGpu(int ordinal) {
        load();
        device = ok(CudaDevice.open(ordinal));
        kernels =
                ok(CudaModule.load(device, arena.allocateFrom(CudaKernels.ptx()).address()));
        stream = ok(CudaStream.create(device, kernels, 0, 8));
        pinned = arena.allocate(PINNED_BYTES, 4096);
        pinnedAddress = ok(CudaMemory.registerHost(device, pinned.address(), PINNED_BYTES));
    }

    /** The file that the build makes. */
    static Path file() {
        return ChildJvm.classes().resolveSibling("native-objects").resolve("libsoftgpu.so");
    }

    static void load() {
        assertThat(CudaLibrary.load(file().toString())).isNull();
    }

    static long ok(long result) {
        assertThat(result).as(() -> CudaLibrary.errorText(result)).isNotNegative();
        return result;
    }

    /** An operation of its stream, to which the test adds what it needs. */
    MemorySegment operation(int operation) {
        request.fill((byte) 0);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_STREAM_OFFSET, stream);
        request.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_OPERATION_OFFSET, operation);
        return request;
    }

    /** Submits the operation, and waits until it is done. */
    void execute() {
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_WORD_OFFSET, pinnedAddress + WORD);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_VALUE_OFFSET, ++last);
        assertThat(CudaStream.submit(request.address(), 1)).isEqualTo(1);
        Patience.until("the word of the stream", () -> (long) LONG.getVolatile(pinned, WORD) == last);
    }

    void copy(long to, long from, long bytes) {
        MemorySegment copy = operation(CudaStream.COPY);
        copy.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_DESTINATION_OFFSET, to);
        copy.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_SOURCE_OFFSET, from);
        copy.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_LENGTH_OFFSET, bytes);
        execute();
    }

    @Override
    public void close() {
        Patience.until("the stream is done", () -> CudaStream.query(stream) != CudaStream.NOT_READY);
        ok(CudaMemory.unregisterHost(device, pinned.address()));
        ok(CudaStream.destroy(stream));
        ok(CudaModule.unload(kernels));
        ok(CudaDevice.close(device));
        arena.close();
    }
}
