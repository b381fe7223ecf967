package io.sluice.jni;

/**
 * Memory of GPUs, and host memory that GPUs can access. See {@link CudaLibrary} for the conventions of these classes.
 * Device addresses are plain numbers that the processor must not dereference.
 */
public final class CudaMemory {
    /** Size of the record that {@link #describe} writes, in bytes. */
    public static final int RECORD_BYTES = 48;

    /** Offset in the record of the allocation's base address, a {@code long}. */
    public static final int RECORD_BASE_OFFSET = 0;

    /** Offset in the record of the allocation's length in bytes, a {@code long}. */
    public static final int RECORD_LENGTH_OFFSET = 8;

    /**
     * Offset in the record of the buffer id, a {@code long}: it changes when memory is freed and allocated again at the
     * same address.
     */
    public static final int RECORD_BUFFER_ID_OFFSET = 16;

    /** Offset in the record of the device's ordinal, an {@code int}; −1 if there is none. */
    public static final int RECORD_ORDINAL_OFFSET = 24;

    /** Offset in the record of the kind, an {@code int}: one of the {@code KIND_} constants. */
    public static final int RECORD_KIND_OFFSET = 28;

    /** Offset in the record of the sharing method, an {@code int}: one of the {@code SHARING_} constants. */
    public static final int RECORD_SHARING_OFFSET = 32;

    /** Offset in the record of an {@code int}: 1 if RDMA adapters can access the memory. */
    public static final int RECORD_RDMA_OFFSET = 36;

    /**
     * Offset in the record of a {@code long}: the id of the physical memory, of the virtual-memory API alone; 0 if the
     * driver does not tell it.
     */
    public static final int RECORD_BLOCK_ID_OFFSET = 40;

    /** Kind: the driver does not know the address. */
    public static final int KIND_UNKNOWN = 0;

    /** Kind: memory of a device. */
    public static final int KIND_DEVICE = 1;

    /** Kind: host memory that devices can access. */
    public static final int KIND_HOST = 2;

    /** Kind: managed memory, which moves between host and devices. */
    public static final int KIND_MANAGED = 3;

    /** Sharing: none, as for memory of a pool or without a handle type. */
    public static final int SHARING_NONE = 0;

    /** Sharing: by {@link #ipcHandle}, which shares the whole allocation. */
    public static final int SHARING_HANDLE = 1;

    /** Sharing: by {@link #export}, a file descriptor. */
    public static final int SHARING_DESCRIPTOR = 2;

    /** Size of a handle of {@link #ipcHandle} in bytes. */
    public static final int IPC_HANDLE_BYTES = 64;

    static {
        NativeLibrary.ensureAvailable();
    }

    private CudaMemory() {}

    /**
     * Returns the granularity of {@link #allocate}.
     *
     * @param device the device
     * @return the granularity in bytes, or an error
     */
    public static native long granularity(long device);

    /**
     * Allocates device memory by the virtual-memory API. Only this device can access it, and it can be exported as a
     * file descriptor. Its contents are undefined.
     *
     * @param device the device
     * @param bytes a multiple of {@link #granularity}, at least 1
     * @return the address, or an error
     */
    public static native long allocate(long device, long bytes);

    /**
     * Unmaps memory of {@link #allocate} or {@link #importDescriptor}. The memory is freed once every process has
     * unmapped it. No device work on it may be in flight.
     *
     * @param device the device
     * @param address the start of the memory
     * @param bytes the length in bytes
     * @return 0 or an error
     */
    public static native int free(long device, long address, long bytes);

    /**
     * Exports an allocation of the virtual-memory API.
     *
     * @param device the device
     * @param address an address within the allocation
     * @return a new file descriptor, closed on exec, or an error
     */
    public static native int export(long device, long address);

    /**
     * Maps an allocation exported by another process, for access by a device of this process.
     *
     * @param device the device that needs access; not necessarily the one that holds the memory
     * @param descriptor the file descriptor, which stays open
     * @param bytes the length of the allocation in bytes
     * @return the address of the mapping, or an error
     */
    public static native long importDescriptor(long device, int descriptor, long bytes);

    /**
     * Queries the driver for the memory at an address of this process.
     *
     * @param address any number
     * @param record the address of {@link #RECORD_BYTES} bytes to write
     * @return 0, also for an unknown address; or an error
     */
    public static native int describe(long address, long record);

    /**
     * Exports an allocation of {@code cudaMalloc}. The handle represents the whole allocation and can be opened only by
     * other processes.
     *
     * @param device the device that holds the memory
     * @param base the start of the allocation
     * @param handle the address of {@link #IPC_HANDLE_BYTES} bytes to write
     * @return 0 or an error
     */
    public static native int ipcHandle(long device, long base, long handle);

    /**
     * Maps an allocation that another process exported by {@link #ipcHandle}. Takes milliseconds.
     *
     * @param device the device that needs access
     * @param handle the address of the {@link #IPC_HANDLE_BYTES} bytes of the handle
     * @return the start of the allocation in this process, or an error
     */
    public static native long ipcOpen(long device, long handle);

    /**
     * Unmaps an allocation of {@link #ipcOpen}. No device work on it may be in flight.
     *
     * @param device the device that had access
     * @param base the start of the allocation
     * @return 0 or an error
     */
    public static native int ipcClose(long device, long base);

    /**
     * Exports device memory as a dma-buf for an RDMA adapter.
     *
     * @param device the device that holds the memory
     * @param address a multiple of the host's page size
     * @param bytes a multiple of the host's page size
     * @return a new file descriptor, or an error: {@code CUDA_ERROR_NOT_SUPPORTED} if the driver cannot
     */
    public static native int dmaBuffer(long device, long address, long bytes);

    /**
     * Waits until writes of RDMA adapters are visible to the device.
     *
     * @param device the device
     * @return 0 or an error: {@code CUDA_ERROR_NOT_SUPPORTED} if the driver cannot
     */
    public static native int flushRemoteWrites(long device);

    /**
     * Pins host memory for access by all devices.
     *
     * @param device the device whose context registers it
     * @param address the start of the memory
     * @param bytes the length in bytes, at least 1
     * @return the device address, or an error
     */
    public static native long registerHost(long device, long address, long bytes);

    /**
     * Tells where devices see pinned memory of the host, also what others than {@link #registerHost} have pinned.
     *
     * @param device the device whose context is asked
     * @param address of one byte, for the host
     * @return its address for devices, or an error: {@code CUDA_ERROR_INVALID_VALUE} if it is not pinned
     */
    public static native long hostAddress(long device, long address);

    /**
     * Ends {@link #registerHost}. No device work on the memory may be in flight.
     *
     * @param device the device whose context registered it
     * @param address the host address of the memory
     * @return 0 or an error
     */
    public static native int unregisterHost(long device, long address);
}
