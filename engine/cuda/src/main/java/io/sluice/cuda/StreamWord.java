package io.sluice.cuda;

import io.sluice.engine.RegistrationException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StreamCompletion;
import io.sluice.jni.CudaDevice;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A word of 64 bits in pinned memory that a transfer completes into and a stream of the user's waits for, so that kernels behind the
 * wait find the bytes in place:
 *
 * <pre>{@code
 * long value = word.next();
 * // cuStreamWaitValue64(stream, word.handle(), value, CU_STREAM_WAIT_VALUE_GEQ), then the kernels that use the bytes
 * connection.read(local, 0, remote, 0, bytes, TransferOptions.defaults().completeInto(word), callback);
 * }</pre>
 *
 * <p>Where a GPU carries the transfer, it stores the value behind the bytes; the host takes no part in a success. Everywhere else, and
 * for each failure, the host stores it: the callback says which it was. One transfer at a time; any thread.
 */
public final class StreamWord implements StreamCompletion, AutoCloseable {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();

    private final String gpu;
    private final long device;
    private final PinnedMemory memory;
    private final AtomicBoolean open = new AtomicBoolean(true);
    // this object, until it is closed, and runs of transfers that a GPU completes
    private final AtomicInteger holders = new AtomicInteger(1);
    private volatile long value;

    private StreamWord(String gpu, long device, PinnedMemory memory) {
        this.gpu = gpu;
        this.device = device;
        this.memory = memory;
    }

    /**
     * Makes a word that holds 0. It takes the driver a page of pinned memory.
     *
     * @param gpu the stable id of the GPU whose streams wait for it; all GPUs of this process reach it
     * @return the word
     * @throws RegistrationException if this process does not see the GPU, or the driver refuses the memory
     */
    public static StreamWord allocate(String gpu) {
        int ordinal = Driver.ordinal(gpu);
        if (ordinal < 0) {
            throw new RegistrationException("this process sees no GPU " + gpu + ", or has no CUDA driver");
        }
        long device = CudaDevice.open(ordinal);
        try {
            CudaException.check(device, "cannot open " + gpu);
            // it is no engine's: no engine's figures have it
            return new StreamWord(gpu, device, new PinnedMemory(device, new GpuMetrics(gpu), Long.BYTES));
        } catch (CudaException e) {
            if (device > 0) {
                CudaDevice.close(device);
            }
            throw new RegistrationException(String.valueOf(e.getMessage()), e);
        }
    }

    /**
     * Begins the next run: the word will hold at least the result once it has ended. Called before the transfer is submitted, or a
     * prepared one started, and after the one before it has ended and is quiescent.
     *
     * @return 1 for the first call, and 1 more for each further one
     */
    public synchronized long next() {
        return ++value;
    }

    /**
     * Returns the word's address.
     *
     * @return as GPUs of this process see it
     */
    @Override
    public long handle() {
        return memory.deviceAddress();
    }

    @Override
    public String device() {
        return gpu;
    }

    /** Returns the value that the latest run stores. */
    long value() {
        return value;
    }

    /** Keeps the memory for a run that a GPU completes; false if it is closed. */
    boolean retain() {
        int now;
        do {
            now = holders.get();
            if (now == 0 || !open.get()) {
                return false;
            }
        } while (!holders.compareAndSet(now, now + 1));
        return true;
    }

    void release() {
        if (holders.decrementAndGet() == 0) {
            // the driver waits for the kernels of the process, and the last holder may be a poller
            Thread.ofPlatform().daemon().name("sluice-cuda-word").start(this::giveBack);
        }
    }

    private void giveBack() {
        memory.close();
        CudaDevice.close(device);
    }

    @Override
    public void complete(@Nullable SluiceException error) {
        if (retain()) {
            WORD.setRelease(memory.segment(), 0L, value);
            release();
        }
    }

    /**
     * Gives the memory back, once no transfer completes into it and the kernels on the GPU have ended; returns before
     * that. No stream may wait for it any more.
     */
    @Override
    public void close() {
        if (open.compareAndSet(true, false)) {
            release();
        }
    }
}
