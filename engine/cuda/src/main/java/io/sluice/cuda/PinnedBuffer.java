package io.sluice.cuda;

import io.sluice.engine.RegistrationException;
import io.sluice.jni.CudaDevice;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;

/**
 * Pinned memory of the host, zeroed, that all GPUs of this process reach: tables that kernels read, and words that they store for the
 * host ({@link GpuStream#onAtLeast}). A GPU reads and writes it over its bus. Any thread.
 */
public final class PinnedBuffer implements AutoCloseable {
    private final String gpu;
    private final PinnedMemory memory;
    private final MemorySegment segment;
    private final StreamUses uses;

    private PinnedBuffer(String gpu, long device, PinnedMemory memory, long bytes) {
        this.gpu = gpu;
        this.memory = memory;
        this.segment = memory.segment().asSlice(0, bytes);
        this.uses = new StreamUses("a pinned buffer of " + bytes + " bytes", () -> {
            memory.close();
            CudaDevice.close(device);
        });
    }

    /**
     * Allocates a buffer. The driver takes milliseconds for it, and more for much memory.
     *
     * @param gpu the stable id of the GPU whose context pins it; all GPUs of this process reach it
     * @param bytes 1 or more; it takes whole pages
     * @return the buffer
     * @throws RegistrationException if the driver refuses the memory
     * @throws IllegalArgumentException if this process does not see the GPU, or the length is less than 1
     * @throws io.sluice.engine.TransportUnavailableException if this process has no CUDA driver
     */
    public static PinnedBuffer allocate(String gpu, long bytes) {
        if (bytes < 1) {
            throw new IllegalArgumentException("a buffer has at least 1 byte, not " + bytes);
        }
        long device = UserDevice.open(gpu);
        try {
            // it is no engine's: no engine's figures have it
            return new PinnedBuffer(gpu, device, new PinnedMemory(device, new GpuMetrics(gpu), bytes), bytes);
        } catch (CudaException e) {
            CudaDevice.close(device);
            throw new RegistrationException(String.valueOf(e.getMessage()), e);
        } catch (RuntimeException | Error e) {
            CudaDevice.close(device);
            throw e;
        }
    }

    /**
     * Returns the GPU that pins it.
     *
     * @return its stable id
     */
    public String device() {
        return gpu;
    }

    /**
     * Returns the memory as the host sees it. Words that both sides change take the access modes of {@link
     * java.lang.invoke.VarHandle}.
     *
     * @return as many bytes as were allocated; accessing them once the buffer is given back throws {@link
     *     IllegalStateException}
     */
    public MemorySegment segment() {
        return segment;
    }

    /**
     * Returns where kernels see its first byte.
     *
     * @return the address, for arguments of launches that {@linkplain GpuWork.Builder#uses(PinnedBuffer) use} the buffer
     */
    public long address() {
        return memory.deviceAddress();
    }

    StreamUses uses() {
        return uses;
    }

    /**
     * Refuses further launches that use it, and gives it back once those that were submitted are done; returns before that.
     */
    @Override
    public void close() {
        uses.close();
    }

    /**
     * Returns when the memory is given back.
     *
     * @return completes after {@link #close}
     */
    public CompletableFuture<Void> released() {
        return uses.released();
    }

    @Override
    public String toString() {
        return uses.life().what();
    }
}
