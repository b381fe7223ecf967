package io.sluice.cuda;

import io.sluice.engine.MemoryKind;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegistrationException;
import io.sluice.jni.CudaMemory;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * GPU memory of another process, mapped into this one without a copy, such as a KV-cache that PyTorch owns:
 *
 * <pre>{@code
 * try (ImportedMemory cache = ImportedMemory.ofHandle(gpu, handle, offset, bytes)) {
 *     MemoryRegion region = engine.register(
 *             cache.memory(), RegionOptions.readWrite().on(MemoryKind.CUDA, gpu));
 *     // peers attach the region; they map the owner's memory by the same handle
 *     region.close().join();
 * }
 * }</pre>
 *
 * <p>The owner must keep the memory, and its process must live, until each region of it is closed; the driver reports neither. The
 * kernels and copies of the owner are not ordered with transfers: its stream must be done with the bytes before they are read, or
 * told. Any thread; opening and closing take the driver milliseconds.
 */
public final class ImportedMemory implements AutoCloseable {
    // PyTorch puts a version and a letter before the driver's handle
    private static final int TORCH_PREFIX_BYTES = 2;
    private static final byte TORCH_ALLOCATION = 'c';
    private static final byte TORCH_SEGMENTS = 'e';

    private final ImportedAllocation allocation;
    private final AtomicBoolean open = new AtomicBoolean(true);
    private final RegionMemory memory;

    private ImportedMemory(String gpu, ImportedAllocation allocation, long offset, long length) {
        this.allocation = allocation;
        try {
            if (length > allocation.bytes() || offset > allocation.bytes() - length) {
                throw new RegistrationException("%d bytes from %d on leave the allocation, which has %d bytes"
                        .formatted(length, offset, allocation.bytes()));
            }
            this.memory = RegionMemory.device(MemoryKind.CUDA, gpu, allocation.base() + offset, length, open::get);
        } catch (RegistrationException e) {
            allocation.release();
            throw e;
        }
    }

    /**
     * Maps memory of {@code cudaMalloc} that another process has exported: {@code cudaIpcGetMemHandle}, or in PyTorch {@code
     * tensor.untyped_storage()._share_cuda_()}, whose second value is the handle, and the fourth the offset of the storage. A
     * handle shares the whole allocation. PyTorch's expandable segments have no handle, and are refused.
     *
     * @param gpu the stable id of the GPU that the memory lies on, such as {@code GPU-8c7a1d2e-…}; this process must see it. The driver
     *     does not say if the memory lies on another, which then copies more slowly, and adds to its words only as its link allows
     * @param handle the driver's handle, 64 bytes, or PyTorch's, 66 bytes
     * @param offset where the memory begins in the allocation, in bytes, 0 or more
     * @param length how long it is, in bytes, 1 or more
     * @return the memory
     * @throws RegistrationException if this process does not see the GPU, or made the handle itself; the handle is of another length or
     *     refused by the driver, as where the GPU does not reach the memory; or the range leaves the allocation. The message says which
     * @throws io.sluice.engine.TransportUnavailableException if this process has no CUDA driver
     */
    public static ImportedMemory ofHandle(String gpu, byte[] handle, long offset, long length) {
        byte[] driverHandle = driverHandle(handle);
        check(offset, length);
        return new ImportedMemory(gpu, ImportedAllocation.open(gpu, driverHandle), offset, length);
    }

    /**
     * Maps memory of the virtual-memory API that another process has exported as a file descriptor: {@code
     * cuMemExportToShareableHandle}. The descriptor has been passed to this process by a Unix socket, or was inherited.
     *
     * @param gpu the stable id of the GPU that the memory lies on; this process must see it
     * @param descriptor the file descriptor, which belongs to this object from here on, but stays the caller's if this throws
     * @param allocationBytes how long the allocation is that the descriptor stands for, a multiple of the driver's granule (2 MiB)
     * @param offset where the memory begins in the allocation, in bytes, 0 or more
     * @param length how long it is, in bytes, 1 or more
     * @return the memory
     * @throws RegistrationException if this process does not see the GPU, the memory lies on another, the driver refuses the descriptor, or the range leaves the
     *     allocation. The message says which
     * @throws io.sluice.engine.TransportUnavailableException if this process has no CUDA driver
     */
    public static ImportedMemory ofDescriptor(
            String gpu, int descriptor, long allocationBytes, long offset, long length) {
        check(offset, length);
        if (length > allocationBytes || offset > allocationBytes - length) {
            // before the descriptor is taken over
            throw new RegistrationException("%d bytes from %d on leave the allocation, which has %d bytes"
                    .formatted(length, offset, allocationBytes));
        }
        if (descriptor < 0) {
            throw new RegistrationException(descriptor + " is no file descriptor");
        }
        return new ImportedMemory(gpu, ImportedAllocation.open(gpu, descriptor, allocationBytes), offset, length);
    }

    private static byte[] driverHandle(byte[] handle) {
        if (handle.length == CudaMemory.IPC_HANDLE_BYTES) {
            return handle.clone();
        }
        if (handle.length > TORCH_PREFIX_BYTES && handle[1] == TORCH_SEGMENTS) {
            throw new RegistrationException(
                    "the handle is of PyTorch's expandable segments, which other processes reach by"
                            + " descriptors alone: set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:False");
        }
        if (handle.length != TORCH_PREFIX_BYTES + CudaMemory.IPC_HANDLE_BYTES || handle[1] != TORCH_ALLOCATION) {
            throw new RegistrationException(
                    "a handle has 64 bytes, or 66 if it is PyTorch's, not these " + handle.length);
        }
        return Arrays.copyOfRange(handle, TORCH_PREFIX_BYTES, handle.length);
    }

    private static void check(long offset, long length) {
        if (offset < 0 || length < 1) {
            throw new RegistrationException("%d bytes from %d on are no range".formatted(length, offset));
        }
    }

    /**
     * Returns the memory, for {@link io.sluice.engine.TransferEngine#register}. Parts of it are registered as its
     * {@linkplain RegionMemory#slice slices}.
     *
     * @return the memory, alive until this is closed
     */
    public RegionMemory memory() {
        return memory;
    }

    /**
     * Ends the use of the memory here: transfers that begin afterwards end as with memory that was freed. It is unmapped, and a
     * descriptor closed, at once, or when the last region of it is closed. Further calls do nothing.
     */
    @Override
    public void close() {
        if (open.compareAndSet(true, false)) {
            allocation.release();
        }
    }

    @Override
    public String toString() {
        return memory + " of another process";
    }
}
