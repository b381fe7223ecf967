package io.sluice.cuda;

import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaKernels;
import io.sluice.jni.CudaModule;
import io.sluice.jni.CudaStream;
import io.sluice.testkit.Patience;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/** A kernel that runs on a GPU, in a stream of the user's, until this is closed. */
final class EndlessKernel implements AutoCloseable {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final Arena arena = Arena.ofShared();
    private final long device;
    private final long module;
    private final long stream;
    private final PinnedMemory pinned;

    EndlessKernel(int ordinal) {
        device = CudaException.check(CudaDevice.open(ordinal), "no device");
        module = CudaException.check(
                CudaModule.load(device, arena.allocateFrom(CudaKernels.ptx()).address()), "no kernels");
        stream = CudaException.check(CudaStream.create(device, module, 0, 1), "no stream");
        pinned = new PinnedMemory(device, new GpuMetrics("busy"), Long.BYTES);
        MemorySegment word = arena.allocateFrom(ValueLayout.JAVA_LONG, pinned.deviceAddress());
        MemorySegment arguments = arena.allocateFrom(ValueLayout.JAVA_LONG, word.address());
        MemorySegment request = arena.allocate(CudaStream.REQUEST_BYTES, Long.BYTES);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_STREAM_OFFSET, stream);
        request.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_OPERATION_OFFSET, CudaStream.LAUNCH);
        request.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_COUNT_OFFSET, 1);
        request.set(
                ValueLayout.JAVA_LONG,
                CudaStream.REQUEST_SOURCE_OFFSET,
                CudaException.check(
                        CudaModule.function(
                                module, arena.allocateFrom("sluice_wait").address()),
                        "no function"));
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_LENGTH_OFFSET, 1);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_DESTINATIONS_OFFSET, arguments.address());
        CudaException.check(CudaStream.submit(request.address(), 1), "the kernel is not launched");
    }

    @Override
    public void close() {
        WORD.setRelease(pinned.segment(), 0L, 1L);
        Patience.until("the kernel has ended", () -> CudaStream.query(stream) != CudaStream.NOT_READY);
        CudaStream.destroy(stream);
        pinned.close();
        CudaModule.unload(module);
        CudaDevice.close(device);
        arena.close();
    }
}
