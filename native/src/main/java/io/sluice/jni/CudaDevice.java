package io.sluice.jni;

/**
 * The GPUs that this process sees: {@code CUDA_VISIBLE_DEVICES} hides and reorders them, so that an ordinal means nothing to another
 * process, and the UUID names one. See {@link CudaLibrary} for what all these classes share.
 */
public final class CudaDevice {
    /** Bytes of the record that {@link #query} writes. */
    public static final int RECORD_BYTES = 192;

    /** Offset of the UUID in the record, 16 bytes. */
    public static final int RECORD_UUID_OFFSET = 0;

    /** Offset of the device's memory in the record, in bytes, a {@code long}. */
    public static final int RECORD_MEMORY_BYTES_OFFSET = 16;

    /** Offset of the ordinal in the record, an {@code int}, as are all that follow but the texts. */
    public static final int RECORD_ORDINAL_OFFSET = 24;

    /** Offset of the compute capability's major number in the record. */
    public static final int RECORD_COMPUTE_MAJOR_OFFSET = 28;

    /** Offset of the compute capability's minor number in the record. */
    public static final int RECORD_COMPUTE_MINOR_OFFSET = 32;

    /** Offset of the number of multiprocessors in the record. */
    public static final int RECORD_MULTIPROCESSORS_OFFSET = 36;

    /** Offset of the number of copy engines in the record. */
    public static final int RECORD_COPY_ENGINES_OFFSET = 40;

    /** Offset in the record of 1 if memory of the virtual-memory API can be exported as file descriptors. */
    public static final int RECORD_DESCRIPTORS_OFFSET = 44;

    /** Offset in the record of 1 if memory can be exported as dma-bufs. */
    public static final int RECORD_DMA_BUFFERS_OFFSET = 48;

    /** Offset in the record of 1 if RDMA adapters can reach its memory (GPUDirect RDMA). */
    public static final int RECORD_RDMA_OFFSET = 52;

    /** Offset in the record of the ways to flush writes of adapters: bit 0 by the host, bit 1 by a stream. */
    public static final int RECORD_RDMA_FLUSH_OFFSET = 56;

    /**
     * Offset in the record of the scope in which writes of adapters are ordered: 0 none, 100 the device, 200 all
     * devices.
     */
    public static final int RECORD_RDMA_ORDERING_OFFSET = 60;

    /** Offset in the record of 1 if a stream can write words of 64 bits, and wait for them. */
    public static final int RECORD_STREAM_WORDS_OFFSET = 64;

    /** Offset of the name in the record, {@link #NAME_BYTES} with its zero. */
    public static final int RECORD_NAME_OFFSET = 72;

    /** Room for the name. */
    public static final int NAME_BYTES = 88;

    /** Offset of the PCI bus id in the record, {@link #BUS_ID_BYTES} with its zero, such as {@code 0000:04:00.0}. */
    public static final int RECORD_BUS_ID_OFFSET = 160;

    /** Room for the bus id. */
    public static final int BUS_ID_BYTES = 32;

    /** Bit of {@link #link}: the one device can map the memory of the other. */
    public static final int LINK_ACCESS = 1;

    /** Bit of {@link #link}: atomic operations on the other's memory are native, as over NVLink. */
    public static final int LINK_NATIVE_ATOMICS = 2;

    /** How far {@link #link} shifts the rank of performance; less is faster. */
    public static final int LINK_RANK_SHIFT = 2;

    static {
        NativeLibrary.ensureAvailable();
    }

    private CudaDevice() {}

    /**
     * Counts the devices that this process sees.
     *
     * @return how many, or an error, also if the library is not loaded
     */
    public static native int count();

    /**
     * Describes a device. Fields unknown to an older driver are 0.
     *
     * @param ordinal from 0 to {@link #count} − 1
     * @param record memory to which {@link #RECORD_BYTES} are written
     * @return 0 or an error
     */
    public static native int query(int ordinal, long record);

    /**
     * Returns how one device reaches the memory of another. The driver's word only: that a peer can really be reached,
     * opening one of its allocations shows.
     *
     * @param ordinal which reaches
     * @param peer which is reached
     * @return the bits {@link #LINK_ACCESS} and {@link #LINK_NATIVE_ATOMICS}, and the rank above; or an error
     */
    public static native int link(int ordinal, int peer);

    /**
     * Opens a device, and retains its primary context, which the process's CUDA runtime shares.
     *
     * @param ordinal from 0 to {@link #count} − 1
     * @return the device's handle, or an error
     */
    public static native long open(int ordinal);

    /**
     * Makes the device's context the calling thread's, in place of the one that it has. For threads of the engine's own.
     *
     * @param device the device
     * @return 0 or an error
     */
    public static native int makeCurrent(long device);

    /**
     * Returns how much of the device's memory is free.
     *
     * @param device the device
     * @param bytes where 8 bytes are written
     * @return 0 or an error
     */
    public static native int freeMemory(long device, long bytes);

    /**
     * Lets the device reach the memory of another one that this process has not mapped for it by the virtual-memory API.
     *
     * @param device which reaches
     * @param peer which is reached
     * @return 0, also if it could before; or an error
     */
    public static native int enablePeer(long device, long peer);

    /**
     * Returns the first error of the device that stays with the process.
     *
     * @param device the device
     * @return the error, or 0
     */
    public static native int fault(long device);

    /**
     * Closes a device. Its memory, streams, modules and events must be gone.
     *
     * @param device the device
     * @return 0 or an error; the handle is gone in either case
     */
    public static native int close(long device);
}
