package io.sluice.jni;

/**
 * Copies from and to another process's memory ({@code process_vm_readv}, {@code process_vm_writev}). The other process
 * takes no part and does not have to consent: any process that may trace it may do this.
 *
 * <p>A batch is an array of records of {@link #RECORD_BYTES} bytes in native byte order: the local address, the peer's
 * address, and the length in bytes (not negative), an {@code int64} each.
 */
public final class PeerMemory {
    /** Size of a record in bytes. */
    public static final int RECORD_BYTES = 24;

    /** The most records in a batch. */
    public static final int MAX_RECORDS = 64;

    static {
        NativeLibrary.ensureAvailable();
    }

    private PeerMemory() {}

    /**
     * Opens a process, so that it cannot be mistaken for a later one with the same id ({@code pidfd_open}). The
     * descriptor is closed on {@code exec}, becomes readable when the process ends, and is closed by {@link
     * Sockets#close}.
     *
     * @param pid the process id
     * @return the file descriptor, or {@code -errno}: {@code -ESRCH} if there is no such process, {@code -ENOSYS}
     *     before Linux 5.3, {@code -EINVAL} for an id below 1, {@code -EMFILE}, {@code -ENFILE}
     */
    public static native int openProcess(int pid);

    /**
     * Returns whether a process is alive.
     *
     * @param processFd a descriptor of {@link #openProcess}
     * @return 1 if it is alive, 0 if it has ended, or {@code -errno}: {@code -EBADF}
     */
    public static native int isAlive(int processFd);

    /**
     * Copies from the peer's memory, record by record.
     *
     * <p>A result of 0 or more is the number of bytes copied, in order from the first record. If it is less than the
     * total, the next byte could not be copied; a call that begins there returns the reason. Local memory beyond the
     * copied bytes may have been overwritten.
     *
     * @param processFd a descriptor of {@link #openProcess}
     * @param pid the id of the same process
     * @param recordsAddress the records
     * @param count the number of records, 1 to {@link #MAX_RECORDS}
     * @return the number of bytes copied, or {@code -errno} if none was: {@code -ESRCH} if the process has ended,
     *     {@code -EFAULT} if the first byte is unmapped or inaccessible on either side, {@code -EPERM} if this process
     *     may not trace the other, {@code -ENOSYS} where the system forbids the call, {@code -EBADF}, {@code -EINVAL}
     *     for a count out of range or a negative length
     */
    public static native long read(int processFd, int pid, long recordsAddress, int count);

    /**
     * Copies to the peer's memory, record by record; otherwise as {@link #read}.
     *
     * @param processFd a descriptor of {@link #openProcess}
     * @param pid the id of the same process
     * @param recordsAddress the records
     * @param count the number of records, 1 to {@link #MAX_RECORDS}
     * @return as {@link #read}
     */
    public static native long write(int processFd, int pid, long recordsAddress, int count);
}
