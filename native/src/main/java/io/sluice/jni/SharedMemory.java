package io.sluice.jni;

/**
 * Memory that processes of one host share: sealed anonymous files ({@code memfd_create}).
 *
 * <p>The owner creates it with {@link #create}, maps it with {@link #map}, fixes its size with {@link #seal} and sends
 * the descriptor to a peer ({@link LocalSockets#send}), which calls {@link #check} and then maps it. {@link
 * Sockets#close} closes a descriptor; the memory lives as long as any process maps it or holds a descriptor.
 */
public final class SharedMemory {
    static {
        NativeLibrary.ensureAvailable();
    }

    private SharedMemory() {}

    /**
     * Creates zeroed memory without a name in any file system. It can be sealed, is closed on {@code exec}, and cannot
     * be made executable where the kernel supports that (Linux 6.3 and newer).
     *
     * <p>With {@code prefault} a shortage of memory is an error here; without it, the process that touches the memory
     * first is killed. The call checks the available memory of the machine and the limits of the process's control
     * groups.
     *
     * @param name 0 to 200 printable ASCII bytes, shown in {@code /proc/PID/maps}; need not be unique
     * @param bytes the size in bytes, at least 1; with huge pages a multiple of {@link #hugePageSize}
     * @param hugePages whether to use huge pages of the default size
     * @param prefault whether to allocate every page now
     * @return the file descriptor, or {@code -errno}: {@code -EINVAL} for an invalid name or size, {@code -ENOMEM} or,
     *     with huge pages, {@code -ENOSPC} if memory is short, {@code -EFBIG} above the process's file size limit (the
     *     JVM ignores its signal), {@code -EMFILE}, {@code -ENFILE}, {@code -ENOSYS} if the kernel does not support it
     */
    public static native int create(byte[] name, long bytes, boolean hugePages, boolean prefault);

    /**
     * Fixes the size for every process and forbids further seals.
     *
     * @param fd a descriptor of {@link #create}
     * @param readOnly whether to forbid writing except through existing mappings, such as the owner's if it mapped the
     *     memory before
     * @return 0, or {@code -errno}: {@code -EPERM} if it is already sealed or not open for writing, {@code -EINVAL} if
     *     the file cannot be sealed, or the kernel does not support the seal for {@code readOnly} (Linux 5.1 and newer
     *     do), {@code -EBADF}
     */
    public static native int seal(int fd, boolean readOnly);

    /**
     * Checks a descriptor received from a peer before it is mapped. If this returns 0, the peer cannot make accesses to
     * the mapped memory fault, as long as it has no huge pages: a peer can free those, and an access faults if none is
     * left. Allow huge pages only from trusted peers.
     *
     * <p>The peer decides whether the memory is writable: {@link #map} reports it.
     *
     * @param fd the descriptor
     * @param bytes the required size in bytes, at least 1
     * @param hugePages whether huge pages are allowed
     * @return 0, or {@code -errno}: {@code -EPERM} if it is not an anonymous file or its size is not sealed, {@code
     *     -EOPNOTSUPP} for huge pages that are not allowed, {@code -ERANGE} if it has another size, {@code -EBADF},
     *     {@code -EINVAL} for a size below 1
     */
    public static native int check(int fd, long bytes, boolean hugePages);

    /**
     * Maps the memory of a descriptor from its start, shared with all other mappings. The descriptor may be closed
     * afterwards. {@link #unmap} removes the mapping.
     *
     * <p>An inaccessible page precedes and follows the mapping, so that an access out of bounds ends the process, or is
     * refused by the kernel, instead of reaching other mappings. An access beyond the end of the file crashes the
     * process as well, so {@code bytes} must be its size, and the size must be sealed.
     *
     * @param fd the descriptor
     * @param bytes the size in bytes, at least 1
     * @param writable whether to map for writing as well as reading
     * @param prefault whether to populate the page table now as far as possible, rather than on first access; this
     *     allocates missing pages
     * @return the address, which is always positive, or {@code -errno}: {@code -EPERM} for a writable mapping of memory
     *     sealed read-only, {@code -EACCES} if the descriptor is not open for this, {@code -ENOMEM} (also if huge pages
     *     are short), {@code -EBADF}, {@code -EINVAL} for a size below 1 or not a multiple of huge pages
     */
    public static native long map(int fd, long bytes, boolean writable, boolean prefault);

    /**
     * Unmaps a mapping of {@link #map} with its guard pages. A later access crashes the process.
     *
     * @param address the address that {@link #map} returned
     * @param bytes the same size
     * @return 0, or {@code -errno}: {@code -EINVAL} for a size below 1 or an address that is not page-aligned
     */
    public static native int unmap(long address, long bytes);

    /**
     * Returns the default size of a huge page, whether or not any is free.
     *
     * @return bytes, or {@code -errno}: {@code -ENOSYS} if the kernel has none
     */
    public static native long hugePageSize();
}
