package io.sluice.jni;

/**
 * The GPUs that this process sees. {@code CUDA_VISIBLE_DEVICES} hides and reorders them, so a UUID identifies a GPU to
 * another process, and an ordinal does not. See {@link CudaLibrary} for the conventions of these classes.
 */
public final class CudaDevice {
    /** Size of the record that {@link #query} writes, in bytes. */
    public static final int RECORD_BYTES = 192;

    /** Offset in the record of the UUID, 16 bytes. */
    public static final int RECORD_UUID_OFFSET = 0;

    /** Offset in the record of the device's memory in bytes, a {@code long}. */
    public static final int RECORD_MEMORY_BYTES_OFFSET = 16;

    /** Offset in the record of the ordinal, an {@code int}, as are all later fields except the texts. */
    public static final int RECORD_ORDINAL_OFFSET = 24;

    /** Offset in the record of the compute capability's major number. */
    public static final int RECORD_COMPUTE_MAJOR_OFFSET = 28;

    /** Offset in the record of the compute capability's minor number. */
    public static final int RECORD_COMPUTE_MINOR_OFFSET = 32;

    /** Offset in the record of the number of multiprocessors. */
    public static final int RECORD_MULTIPROCESSORS_OFFSET = 36;

    /** Offset in the record of the number of copy engines. */
    public static final int RECORD_COPY_ENGINES_OFFSET = 40;

    /** Offset in the record of 1 if virtual-memory allocations can be exported as file descriptors. */
    public static final int RECORD_DESCRIPTORS_OFFSET = 44;

    /** Offset in the record of 1 if memory can be exported as dma-bufs. */
    public static final int RECORD_DMA_BUFFERS_OFFSET = 48;

    /** Offset in the record of 1 if RDMA adapters can access its memory (GPUDirect RDMA). */
    public static final int RECORD_RDMA_OFFSET = 52;

    /** Offset in the record of the methods to flush adapter writes: bit 0 by the host, bit 1 by a stream. */
    public static final int RECORD_RDMA_FLUSH_OFFSET = 56;

    /**
     * Offset in the record of the scope in which adapter writes are ordered: 0 none, 100 the device, 200 all devices.
     */
    public static final int RECORD_RDMA_ORDERING_OFFSET = 60;

    /** Offset in the record of 1 if a stream can write and wait for 64-bit words. */
    public static final int RECORD_STREAM_WORDS_OFFSET = 64;

    /** Offset in the record of the name, {@link #NAME_BYTES} with its zero. */
    public static final int RECORD_NAME_OFFSET = 72;

    /** Size of the name in bytes. */
    public static final int NAME_BYTES = 88;

    /** Offset in the record of the PCI bus id, {@link #BUS_ID_BYTES} with its zero, such as {@code 0000:04:00.0}. */
    public static final int RECORD_BUS_ID_OFFSET = 160;

    /** Size of the bus id in bytes. */
    public static final int BUS_ID_BYTES = 32;

    /** Bit of {@link #link}: the first device can map the memory of the second. */
    public static final int LINK_ACCESS = 1;

    /** Bit of {@link #link}: atomic operations on the second device's memory are native, as over NVLink. */
    public static final int LINK_NATIVE_ATOMICS = 2;

    /** Shift of the performance rank in {@link #link}; a lower rank is faster. */
    public static final int LINK_RANK_SHIFT = 2;

    static {
        NativeLibrary.ensureAvailable();
    }

    private CudaDevice() {}

    /**
     * Counts the devices that this process sees.
     *
     * @return the count, or an error, also if the library is not loaded
     */
    public static native int count();

    /**
     * Describes a device. Fields that an older driver does not know are 0.
     *
     * @param ordinal from 0 to {@link #count} − 1
     * @param record the address of {@link #RECORD_BYTES} bytes to write
     * @return 0 or an error
     */
    public static native int query(int ordinal, long record);

    /**
     * Returns how one device accesses the memory of another, as the driver reports it. Only opening one of the peer's
     * allocations shows whether it works.
     *
     * @param ordinal the accessing device
     * @param peer the accessed device
     * @return the bits {@link #LINK_ACCESS} and {@link #LINK_NATIVE_ATOMICS}, and the rank above them; or an error
     */
    public static native int link(int ordinal, int peer);

    /**
     * Opens a device and retains its primary context, which the process's CUDA runtime shares.
     *
     * @param ordinal from 0 to {@link #count} − 1
     * @return the device's handle, or an error
     */
    public static native long open(int ordinal);

    /**
     * Makes the device's context the calling thread's context until the thread ends. For threads of the engine.
     *
     * @param device the device
     * @return 0 or an error
     */
    public static native int makeCurrent(long device);

    /**
     * Returns how much of the device's memory is free.
     *
     * @param device the device
     * @param bytes the address of 8 bytes to write
     * @return 0 or an error
     */
    public static native int freeMemory(long device, long bytes);

    /**
     * Gives the device access to memory of another device outside the virtual-memory API.
     *
     * @param device the accessing device
     * @param peer the accessed device
     * @return 0, also if it had access already; or an error
     */
    public static native int enablePeer(long device, long peer);

    /**
     * Returns the first sticky error of the device.
     *
     * @param device the device
     * @return the error, or 0
     */
    public static native int fault(long device);

    /**
     * Closes a device. Its memory, streams, modules and events must have been destroyed.
     *
     * @param device the device
     * @return 0 or an error; the handle becomes invalid in either case
     */
    public static native int close(long device);
}
