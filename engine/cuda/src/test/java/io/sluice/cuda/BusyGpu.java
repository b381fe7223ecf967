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
import java.util.concurrent.locks.LockSupport;

/**
 * A GPU whose multiprocessors are filled by a program of the user's, as by a large matrix product: sums of memory, each a kernel of
 * more blocks than run at a time, and the next waits already. In this process, since kernels of two would take turns by time.
 */
final class BusyGpu implements AutoCloseable {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final int MOST_BLOCKS = 65_536;
    private static final int AHEAD = 2;
    private static final long LOOK_NANOS = 20_000;
    private static final long REQUEST_OFFSET = 64;

    private final Arena arena = Arena.ofShared();
    private final long device;
    private final long module;
    private final long stream;
    private final PinnedMemory pinned;
    private final Thread thread;
    private final long began = System.nanoTime();
    private volatile boolean closing;
    private volatile long kernels;

    BusyGpu(int ordinal, long address, long bytes) {
        device = CudaException.check(CudaDevice.open(ordinal), "no device");
        module = CudaException.check(
                CudaModule.load(device, arena.allocateFrom(CudaKernels.ptx()).address()), "no kernels");
        stream = CudaException.check(CudaStream.create(device, module, 0, MOST_BLOCKS), "no stream");
        pinned = new PinnedMemory(device, new GpuMetrics("busy"), REQUEST_OFFSET + CudaStream.REQUEST_BYTES);
        MemorySegment request = pinned.segment().asSlice(REQUEST_OFFSET, CudaStream.REQUEST_BYTES);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_STREAM_OFFSET, stream);
        request.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_OPERATION_OFFSET, CudaStream.CHECKSUM);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_SOURCE_OFFSET, address + Long.BYTES);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_LENGTH_OFFSET, bytes - Long.BYTES);
        // the first word, in the GPU's memory
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_DESTINATION_OFFSET, address);
        request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_WORD_OFFSET, pinned.deviceAddress());
        thread = Thread.ofPlatform().daemon().name("busy-gpu").start(() -> work(request));
    }

    private void work(MemorySegment request) {
        long given = 0;
        while (!closing || reached() < given) {
            if (!closing && given - reached() < AHEAD) {
                request.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_VALUE_OFFSET, ++given);
                CudaException.check(CudaStream.submit(request.address(), 1), "a kernel is not launched");
            } else {
                LockSupport.parkNanos(LOOK_NANOS);
            }
            kernels = reached();
        }
    }

    private long reached() {
        return (long) WORD.getAcquire(pinned.segment(), 0L);
    }

    /** How many kernels have ended until now, a second. */
    double rate() {
        return kernels * 1e9 / (System.nanoTime() - began);
    }

    @Override
    public void close() {
        closing = true;
        Patience.join(thread);
        CudaStream.destroy(stream);
        pinned.close();
        CudaModule.unload(module);
        CudaDevice.close(device);
        arena.close();
    }
}
