package io.sluice.cuda;

import io.sluice.jni.CudaDevice;
import io.sluice.jni.CudaKernels;
import io.sluice.jni.CudaModule;
import io.sluice.jni.CudaStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A GPU that a transport uses, with Sluice's kernels. Any thread; {@link #open} and {@link #zero} block. */
final class Gpu implements AutoCloseable {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
    private static final long LONGEST_FILL_NANOS = 30_000_000_000L;
    private static final long LOOK_NANOS = 20_000;

    private final int ordinal;
    private final GpuMetrics metrics;
    private final long device;
    private final long kernels;
    private final int blocks;
    private @Nullable GpuWords words;
    private volatile boolean isKept;

    private Gpu(int ordinal, GpuMetrics metrics, long device, long kernels, int blocks) {
        this.ordinal = ordinal;
        this.metrics = metrics;
        this.device = device;
        this.kernels = kernels;
        this.blocks = blocks;
    }

    static Gpu open(int ordinal, GpuMetrics metrics, int blocks) {
        String id = metrics.device();
        long device = CudaException.check(CudaDevice.open(ordinal), "cannot open " + id);
        try (Arena arena = Arena.ofConfined()) {
            long kernels = CudaException.check(
                    CudaModule.load(
                            device, arena.allocateFrom(CudaKernels.ptx()).address()),
                    "cannot load the kernels on " + id);
            return new Gpu(ordinal, metrics, device, kernels, blocks);
        } catch (RuntimeException | Error e) {
            CudaDevice.close(device);
            throw e;
        }
    }

    int ordinal() {
        return ordinal;
    }

    /** {@code GPU-…}, the same in every process. */
    String id() {
        return metrics.device();
    }

    GpuMetrics metrics() {
        return metrics;
    }

    /** The driver's handle of it. */
    long device() {
        return device;
    }

    long newStream() {
        return stream(0);
    }

    /** One whose work goes before that of others. */
    long newUrgentStream() {
        return stream(1);
    }

    private long stream(int priority) {
        return CudaException.check(
                CudaStream.create(device, kernels, priority, blocks), "cannot make a stream on " + id());
    }

    /** How the host's threads reach words of its memory. The first call blocks. */
    synchronized GpuWords words() {
        GpuWords made = words;
        if (made == null) {
            made = new GpuWords(this);
            words = made;
        }
        return made;
    }

    /** Makes memory of it zeros, and waits until it is; false if that takes too long, and the GPU may still write there. */
    boolean zero(long address, long bytes) {
        long stream = newStream();
        PinnedMemory pinned;
        try {
            pinned = new PinnedMemory(device(), metrics(), CudaStream.REQUEST_BYTES + Long.BYTES);
        } catch (RuntimeException | Error e) {
            CudaStream.destroy(stream);
            throw e;
        }
        int state = fill(stream, pinned, address, bytes);
        if (state == CudaStream.NOT_READY) {
            // so that neither stream nor word can be given back
            keep();
            return false;
        }
        CudaStream.destroy(stream);
        pinned.close();
        CudaException.check(state, "cannot fill memory of " + id());
        return true;
    }

    /** 0 when it is done, {@link CudaStream#NOT_READY} if that takes too long, or an error. */
    private static int fill(long stream, PinnedMemory pinned, long address, long bytes) {
        MemorySegment memory = pinned.segment();
        memory.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_STREAM_OFFSET, stream);
        memory.set(ValueLayout.JAVA_INT, CudaStream.REQUEST_OPERATION_OFFSET, CudaStream.FILL);
        memory.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_DESTINATION_OFFSET, address);
        memory.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_DESTINATIONS_OFFSET, bytes);
        memory.set(
                ValueLayout.JAVA_LONG,
                CudaStream.REQUEST_WORD_OFFSET,
                pinned.deviceAddress() + CudaStream.REQUEST_BYTES);
        memory.set(ValueLayout.JAVA_LONG, CudaStream.REQUEST_VALUE_OFFSET, 1);
        int state = CudaStream.submit(memory.address(), 1);
        long began = System.nanoTime();
        while (state >= 0 && (long) WORD.getVolatile(memory, (long) CudaStream.REQUEST_BYTES) == 0) {
            state = CudaStream.query(stream);
            if (state == CudaStream.NOT_READY && System.nanoTime() - began < LONGEST_FILL_NANOS) {
                state = 0;
                LockSupport.parkNanos(LOOK_NANOS);
            }
        }
        return Math.min(state, 0);
    }

    /** The error that it has had once and that stays with the process, or 0. */
    int fault() {
        return CudaDevice.fault(device);
    }

    /** A stream is still at work and was left: the driver would wait for it when kernels and context are given back. */
    void keep() {
        isKept = true;
    }

    /** Its streams and memory are gone. Blocks, for as long as any kernel of this process runs on it. */
    @Override
    public synchronized void close() {
        GpuWords made = words;
        if (made != null && !made.end()) {
            keep();
        }
        if (isKept) {
            return;
        }
        CudaModule.unload(kernels);
        CudaDevice.close(device);
    }
}
