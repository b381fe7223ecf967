package io.sluice.jni;

/**
 * Memory of GPUs, and memory of the host that they reach. See {@link CudaLibrary} for what all these classes share. Addresses of
 * devices are plain numbers here: the processor must not follow them.
 */
public final class CudaMemory {
    /** Bytes of the record that {@link #describe} writes. */
    public static final int RECORD_BYTES = 40;

    /** Offset of the allocation's base address in the record, a {@code long}. */
    public static final int RECORD_BASE_OFFSET = 0;

    /** Offset of the allocation's length in the record, in bytes, a {@code long}. */
    public static final int RECORD_LENGTH_OFFSET = 8;

    /**
     * Offset of the buffer id in the record, a {@code long}: it changes when memory is freed and allocated again at one
     * address.
     */
    public static final int RECORD_BUFFER_ID_OFFSET = 16;

    /** Offset of the device's ordinal in the record, an {@code int}; −1 if there is none. */
    public static final int RECORD_ORDINAL_OFFSET = 24;

    /** Offset of the kind in the record, an {@code int}: one of the {@code KIND_} constants. */
    public static final int RECORD_KIND_OFFSET = 28;

    /** Offset of the way of sharing in the record, an {@code int}: one of the {@code SHARING_} constants. */
    public static final int RECORD_SHARING_OFFSET = 32;

    /** Offset in the record of 1, an {@code int}, if RDMA adapters can reach the memory. */
    public static final int RECORD_RDMA_OFFSET = 36;

    /** The driver does not know the address. */
    public static final int KIND_UNKNOWN = 0;

    /** Memory of a device. */
    public static final int KIND_DEVICE = 1;

    /** Memory of the host that devices reach. */
    public static final int KIND_HOST = 2;

    /** Managed memory, which moves between host and devices. */
    public static final int KIND_MANAGED = 3;

    /** No other process can map it: of a memory pool, or made without a handle type. */
    public static final int SHARING_NONE = 0;

    /** Shared by {@link #ipcHandle}, which shares the whole allocation. */
    public static final int SHARING_HANDLE = 1;

    /** Shared by {@link #export}, a file descriptor. */
    public static final int SHARING_DESCRIPTOR = 2;

    /** Bytes of a handle of {@link #ipcHandle}. */
    public static final int IPC_HANDLE_BYTES = 64;

    static {
        NativeLibrary.ensureAvailable();
    }

    private CudaMemory() {}

    /**
     * Returns the granularity of {@link #allocate}, which takes multiples of it.
     *
     * @param device the device
     * @return bytes, or an error
     */
    public static native long granularity(long device);

    /**
     * Allocates memory of a device, by the virtual-memory API, that the device alone can reach and that can be exported as a file
     * descriptor. Its bytes are undefined.
     *
     * @param device the device
     * @param bytes a multiple of {@link #granularity}, at least 1
     * @return its address, or an error
     */
    public static native long allocate(long device, long bytes);

    /**
     * Unmaps what {@link #allocate} or {@link #importDescriptor} has given. The memory goes back once every process has unmapped
     * it. No work of a device on it may be under way.
     *
     * @param device the device
     * @param address where it begins
     * @param bytes its length
     * @return 0 or an error
     */
    public static native int free(long device, long address, long bytes);

    /**
     * Exports an allocation of the virtual-memory API.
     *
     * @param device the device
     * @param address within the allocation
     * @return a new file descriptor, closed on exec, or an error
     */
    public static native int export(long device, long address);

    /**
     * Maps an allocation that another process has exported, so that a device of this process reaches it.
     *
     * @param device which is to reach it; not necessarily the one that the memory lies on
     * @param descriptor the file descriptor, which stays open
     * @param bytes the length of the allocation
     * @return where it is mapped, or an error
     */
    public static native long importDescriptor(long device, int descriptor, long bytes);

    /**
     * Asks the driver what lies at an address, of this process.
     *
     * @param address any number
     * @param record where {@link #RECORD_BYTES} are written
     * @return 0, also if it does not know the address; or an error
     */
    public static native int describe(long address, long record);

    /**
     * Exports an allocation of {@code cudaMalloc}. The handle stands for all of the allocation, and opens in other processes only.
     *
     * @param device which it lies on
     * @param base where the allocation begins
     * @param handle where {@link #IPC_HANDLE_BYTES} are written
     * @return 0 or an error
     */
    public static native int ipcHandle(long device, long base, long handle);

    /**
     * Maps an allocation that another process has exported by {@link #ipcHandle}. It takes milliseconds.
     *
     * @param device which is to reach it
     * @param handle where {@link #IPC_HANDLE_BYTES} are read
     * @return where the allocation begins here, or an error
     */
    public static native long ipcOpen(long device, long handle);

    /**
     * Unmaps what {@link #ipcOpen} has mapped. No work of a device on it may be under way.
     *
     * @param device which reached it
     * @param base where the allocation begins
     * @return 0 or an error
     */
    public static native int ipcClose(long device, long base);

    /**
     * Exports memory of a device as a dma-buf, for an RDMA adapter.
     *
     * @param device which it lies on
     * @param address a multiple of the host's page size
     * @param bytes a multiple of the host's page size
     * @return a new file descriptor, or an error: {@code CUDA_ERROR_NOT_SUPPORTED} if the driver cannot
     */
    public static native int dmaBuffer(long device, long address, long bytes);

    /**
     * Waits until what RDMA adapters have written is visible to the device.
     *
     * @param device the device
     * @return 0 or an error: {@code CUDA_ERROR_NOT_SUPPORTED} if the driver cannot
     */
    public static native int flushRemoteWrites(long device);

    /**
     * Pins memory of the host and lets all devices reach it.
     *
     * @param device the device whose context does it
     * @param address where it begins
     * @param bytes its length, at least 1
     * @return its address for devices, or an error
     */
    public static native long registerHost(long device, long address, long bytes);

    /**
     * Ends {@link #registerHost}. No work of a device on it may be under way.
     *
     * @param device the device whose context did it
     * @param address where the memory begins, for the host
     * @return 0 or an error
     */
    public static native int unregisterHost(long device, long address);
}
