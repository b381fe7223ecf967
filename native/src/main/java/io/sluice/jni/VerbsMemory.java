package io.sluice.jni;

/**
 * Memory that an RDMA adapter may access. See {@link VerbsLibrary} for the conventions of these classes.
 *
 * <p>The memory of a region must stay mapped until {@link #deregister}. The adapter keeps the pages of the time of
 * registration: memory that is unmapped and mapped again no longer belongs to the region.
 */
public final class VerbsMemory {
    /** Local write: the adapter may store results of reads and atomics, and received bytes. */
    public static final int LOCAL_WRITE = 1;

    /** Remote write. Requires {@link #LOCAL_WRITE}. */
    public static final int REMOTE_WRITE = 1 << 1;

    /** Remote read. */
    public static final int REMOTE_READ = 1 << 2;

    /** Remote atomics. Requires {@link #LOCAL_WRITE}. */
    public static final int REMOTE_ATOMIC = 1 << 3;

    /**
     * Relaxed ordering: writes of the adapter may become visible in another order than they arrived. A hint, ignored
     * where the library, the kernel or the adapter does not support it.
     */
    public static final int RELAXED_ORDERING = 1 << 4;

    /**
     * On-demand paging: pages are not pinned, the adapter faults them in. See {@link
     * VerbsDevice#DEVICE_ON_DEMAND_PAGING_OFFSET}.
     */
    public static final int ON_DEMAND = 1 << 5;

    static {
        NativeLibrary.ensureAvailable();
    }

    private VerbsMemory() {}

    /**
     * Registers memory and pins its pages, in time proportional to their number.
     *
     * @param domain the protection domain
     * @param address the start of the memory; peers use the same addresses
     * @param length its length in bytes, at least 1
     * @param access a union of this class's constants
     * @return the region's handle, or {@code -errno}: {@code -ENOMEM}, also above the limit of locked memory ({@code
     *     ulimit -l}); {@code -EFAULT} for unmapped memory; {@code -EINVAL} for unknown or contradictory access rights;
     *     {@code -EOPNOTSUPP} for {@link #ON_DEMAND} on a device without it
     */
    public static native long register(long domain, long address, long length, int access);

    /**
     * Registers memory of another device, such as a GPU, that was exported as a dma-buf.
     *
     * @param domain the protection domain
     * @param descriptor the file descriptor of the dma-buf; it may be closed afterwards
     * @param offset the start of the region in the dma-buf, in bytes
     * @param length its length in bytes, at least 1
     * @param virtualAddress the address of the region's first byte in work requests and for peers; must agree with
     *     {@code offset} within a page
     * @param access a union of this class's constants
     * @return the region's handle, or {@code -errno}: {@code -EOPNOTSUPP} if the library, the kernel or the device does
     *     not support it, {@code -EBADF}, {@code -EINVAL}
     */
    public static native long registerDmabuf(
            long domain, int descriptor, long offset, long length, long virtualAddress, int access);

    /**
     * Returns the key of a region in local work requests.
     *
     * @param region the region
     * @return the key, which may be any number; 0 for the handle 0
     */
    public static native int localKey(long region);

    /**
     * Returns the key of a region for peers.
     *
     * @param region the region
     * @return the key, which may be any number; 0 for the handle 0
     */
    public static native int remoteKey(long region);

    /**
     * Ends a registration. Once this returns 0, the adapter does not access the memory; local and remote work requests
     * that would access it fail.
     *
     * @param region the region
     * @return 0, or {@code -errno} if the region is still registered
     */
    public static native int deregister(long region);
}
