package io.sluice.jni;

/**
 * Memory that an RDMA adapter may reach. See {@link VerbsLibrary} for what all these classes share.
 *
 * <p>The memory of a region must stay mapped until {@link #deregister}. The adapter keeps the pages that lay there when it
 * was registered: memory that is unmapped and mapped again is not the region's any more.
 */
public final class VerbsMemory {
    /** The adapter may write: results of reads and atomics, and received bytes. */
    public static final int LOCAL_WRITE = 1;

    /** Peers may write. Needs {@link #LOCAL_WRITE}. */
    public static final int REMOTE_WRITE = 1 << 1;

    /** Peers may read. */
    public static final int REMOTE_READ = 1 << 2;

    /** Peers may use atomics. Needs {@link #LOCAL_WRITE}. */
    public static final int REMOTE_ATOMIC = 1 << 3;

    /**
     * Writes of the adapter may become visible in another order than they came. A hint, without effect where the library,
     * the kernel or the adapter does not know it.
     */
    public static final int RELAXED_ORDERING = 1 << 4;

    /** Pages are not pinned: the adapter asks for them. See {@link VerbsDevice#DEVICE_ON_DEMAND_PAGING_OFFSET}. */
    public static final int ON_DEMAND = 1 << 5;

    static {
        NativeLibrary.ensureAvailable();
    }

    private VerbsMemory() {}

    /**
     * Registers memory. This pins its pages, which takes time in proportion to them.
     *
     * @param domain the protection domain
     * @param address where the memory begins; peers address it by the same numbers
     * @param length its length in bytes, at least 1
     * @param access a union of this class's constants
     * @return the region's handle, or {@code -errno}: {@code -ENOMEM} also if the process may not lock that much memory
     *     ({@code ulimit -l}), {@code -EFAULT} for memory that is not mapped, {@code -EINVAL} for access rights that are
     *     unknown or do not go together, {@code -EOPNOTSUPP} for {@link #ON_DEMAND} on a device without it
     */
    public static native long register(long domain, long address, long length, int access);

    /**
     * Registers memory of another device, for example of a GPU, that was exported as a dma-buf.
     *
     * @param domain the protection domain
     * @param descriptor the file descriptor of the dma-buf; it may be closed afterwards
     * @param offset where in the dma-buf the region begins, in bytes
     * @param length its length in bytes, at least 1
     * @param virtualAddress by which number work requests and peers address the region's first byte; it must agree with
     *     {@code offset} within a page
     * @param access a union of this class's constants
     * @return the region's handle, or {@code -errno}: {@code -EOPNOTSUPP} if the library, the kernel or the device has no
     *     such registration, {@code -EBADF}, {@code -EINVAL}
     */
    public static native long registerDmabuf(
            long domain, int descriptor, long offset, long length, long virtualAddress, int access);

    /**
     * Returns the key that work requests of this side name the region by.
     *
     * @param region the region
     * @return the key; any number is one. 0 for the handle 0
     */
    public static native int localKey(long region);

    /**
     * Returns the key that peers name the region by.
     *
     * @param region the region
     * @return the key; any number is one. 0 for the handle 0
     */
    public static native int remoteKey(long region);

    /**
     * Ends a registration. When it returns 0 the adapter does not touch the memory any more; work requests that would,
     * here or from a peer, fail.
     *
     * @param region the region
     * @return 0 or {@code -errno}; the region is still registered then
     */
    public static native int deregister(long region);
}
