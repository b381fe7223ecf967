package io.sluice.jni;

/**
 * Memory that processes of one host share: sealed anonymous files ({@code memfd_create}).
 *
 * <p>Its owner makes it with {@link #create}, maps it with {@link #map}, fixes its size with {@link #seal} and sends
 * the descriptor to a peer ({@link LocalSockets#send}), which asks {@link #check} before it maps it in turn.
 * {@link Sockets#close} closes a descriptor; the memory stays as long as any process has it mapped or holds a
 * descriptor of it.
 */
public final class SharedMemory {
    static {
        NativeLibrary.ensureAvailable();
    }

    private SharedMemory() {}

    /**
     * Makes zeroed memory that has no name in any file system, may be sealed, and is closed on {@code exec}. It cannot
     * be made executable, where the kernel knows how to prevent that (Linux 6.3 and newer).
     *
     * <p>With {@code prefault} a shortage of memory is an error here rather than the end of the process that touches it
     * first. The call checks the memory that the machine has available, and that the limits of the process's control
     * groups leave.
     *
     * @param name 0 to 200 printable ASCII bytes, which {@code /proc/PID/maps} shows; it need not be unique
     * @param bytes how many bytes, at least 1; with huge pages a multiple of {@link #hugePageSize}
     * @param hugePages whether it consists of huge pages, of the default size
     * @param prefault whether every page is given its memory now
     * @return the file descriptor, or {@code -errno}: {@code -EINVAL} for a name or a size that does not fit,
     *     {@code -ENOMEM} or, with huge pages, {@code -ENOSPC} if memory is short, {@code -EFBIG} above the process's limit
     *     of a file's size (the virtual machine ignores the signal for it), {@code -EMFILE}, {@code -ENFILE},
     *     {@code -ENOSYS} where the kernel has none of this
     */
    public static native int create(byte[] name, long bytes, boolean hugePages, boolean prefault);

    /**
     * Fixes the size forever, for every process, and forbids further seals.
     *
     * @param fd a descriptor of {@link #create}
     * @param readOnly whether writing is forbidden from now on, except through existing mappings: those of the owner,
     *     if it has mapped the memory before
     * @return 0, or {@code -errno}: {@code -EPERM} if it has been sealed already or is not open for writing, {@code
     *     -EINVAL} if it is not a file that can be sealed, or if the kernel does not know the seal for {@code readOnly}
     *     (Linux 5.1 and newer do), {@code -EBADF}
     */
    public static native int seal(int fd, boolean readOnly);

    /**
     * Checks a descriptor that a peer sent, before it is mapped. If this gives 0, nothing that the peer does to the
     * file can make an access to the mapped memory fault, as long as it has no huge pages: those a peer can give back
     * to the system, and an access then faults if none is left. Allow them only to a peer that is trusted.
     *
     * <p>The peer decides whether the memory is writable: {@link #map} tells.
     *
     * @param fd the descriptor
     * @param bytes how many bytes it must have, at least 1
     * @param hugePages whether it may consist of huge pages
     * @return 0, or {@code -errno}: {@code -EPERM} if it is no anonymous file or its size is not sealed,
     *     {@code -EOPNOTSUPP} for huge pages that are not allowed, {@code -ERANGE} if it has another size,
     *     {@code -EBADF}, {@code -EINVAL} for a size below 1
     */
    public static native int check(int fd, long bytes, boolean hugePages);

    /**
     * Maps the memory of a descriptor, from its beginning, shared with all who have it mapped. The descriptor may be
     * closed afterwards. {@link #unmap} gives the mapping back.
     *
     * <p>A page without access lies right before and right behind its pages, so that an access which leaves the
     * memory ends the process, or is refused by the kernel, rather than reach other mappings. An access that
     * goes beyond the file's end crashes the process as well, so {@code bytes} must be its size, and the size must be
     * sealed.
     *
     * @param fd the descriptor
     * @param bytes the size in bytes, at least 1
     * @param writable whether it may be written to, and not only read
     * @param prefault whether all pages are entered into the page table now, as far as possible, rather than at the
     *     first touch; this gives memory to those that have none yet
     * @return the address, which is always positive, or {@code -errno}: {@code -EPERM} for a writable mapping of what
     *     is sealed as read-only, {@code -EACCES} if the descriptor is not open for this, {@code -ENOMEM} (also if huge
     *     pages are short), {@code -EBADF}, {@code -EINVAL} for a size below 1 or a part of huge pages
     */
    public static native long map(int fd, long bytes, boolean writable, boolean prefault);

    /**
     * Unmaps a mapping of {@link #map}, and the pages around it. A later access crashes the process.
     *
     * @param address the address that {@link #map} returned
     * @param bytes the same size
     * @return 0, or {@code -errno}: {@code -EINVAL} for a size below 1 or an address that is not a page's
     */
    public static native int unmap(long address, long bytes);

    /**
     * Returns the default size of a huge page. That there are any left is not said.
     *
     * @return bytes, or {@code -errno}: {@code -ENOSYS} if the kernel has none
     */
    public static native long hugePageSize();
}
