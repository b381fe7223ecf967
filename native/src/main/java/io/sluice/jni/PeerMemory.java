package io.sluice.jni;

/**
 * Copies from and to another process's memory ({@code process_vm_readv}, {@code process_vm_writev}). The other process
 * takes no part, and its consent is not needed: every process that may trace it may do this.
 *
 * <p>A batch is an array of records of {@link #RECORD_BYTES} bytes in native byte order: the local address, the peer's
 * address, and the length in bytes (not negative), an {@code int64} each.
 */
public final class PeerMemory {
    /** The size of a record. */
    public static final int RECORD_BYTES = 24;

    /** The largest number of records in one batch. */
    public static final int MAX_RECORDS = 64;

    static {
        NativeLibrary.ensureAvailable();
    }

    private PeerMemory() {}

    /**
     * Opens a process, so that it cannot be mistaken for a later one of the same id ({@code pidfd_open}). The
     * descriptor is closed on {@code exec}, becomes readable when the process ends, and is closed by
     * {@link Sockets#close}.
     *
     * @param pid the process id
     * @return the file descriptor, or {@code -errno}: {@code -ESRCH} if there is none, {@code -ENOSYS} before Linux
     *     5.3, {@code -EINVAL} for an id below 1, {@code -EMFILE}, {@code -ENFILE}
     */
    public static native int openProcess(int pid);

    /**
     * Returns whether a process has not ended yet.
     *
     * @param processFd a descriptor of {@link #openProcess}
     * @return 1 if it is alive, 0 if it has ended, or {@code -errno}: {@code -EBADF}
     */
    public static native int isAlive(int processFd);

    /**
     * Copies from the peer's memory, record by record.
     *
     * <p>A result that is not negative is the number of bytes copied, in order from the first record on. If it is less
     * than all, what comes next could not be copied; a call that begins there tells why. More bytes than these may have
     * been written to the rest of the local memory.
     *
     * @param processFd a descriptor of {@link #openProcess}
     * @param pid the id of the same process
     * @param recordsAddress the records
     * @param count how many, 1 to {@link #MAX_RECORDS}
     * @return the number of bytes copied, or {@code -errno} if it is none: {@code -ESRCH} if the process ended before
     *     or meanwhile, {@code -EFAULT} if the first byte is not mapped on either side, or not accessible,
     *     {@code -EPERM} if this process may not trace that one, {@code -ENOSYS} where the system does not allow the
     *     call at all, {@code -EBADF}, {@code -EINVAL} for a count out of range or a negative length
     */
    public static native long read(int processFd, int pid, long recordsAddress, int count);

    /**
     * Copies to the peer's memory, record by record. All else is as with {@link #read}.
     *
     * @param processFd a descriptor of {@link #openProcess}
     * @param pid the id of the same process
     * @param recordsAddress the records
     * @param count how many, 1 to {@link #MAX_RECORDS}
     * @return the number of bytes copied, or {@code -errno} if it is none, as with {@link #read}
     */
    public static native long write(int processFd, int pid, long recordsAddress, int count);
}
