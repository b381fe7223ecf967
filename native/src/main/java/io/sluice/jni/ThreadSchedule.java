package io.sluice.jni;

/** How the kernel schedules a thread. */
public final class ThreadSchedule {
    /** Size of a record in bytes. */
    public static final int RECORD_BYTES = 16;

    /** Offset of the time that the thread has run: 8 bytes, nanoseconds. */
    public static final int RECORD_RAN_OFFSET = 0;

    /** Offset of the time that the thread was runnable but waited for a processor: 8 bytes, nanoseconds. */
    public static final int RECORD_WAITED_OFFSET = 8;

    static {
        NativeLibrary.ensureAvailable();
    }

    private ThreadSchedule() {}

    /**
     * Reads the statistics of the calling thread since its start. Not for virtual threads: they would be the carrier's.
     *
     * @param record the address of the record to write
     * @return 0, or {@code -errno}: {@code -ENOENT} or {@code -ENOSYS} if the kernel does not provide them, {@code
     *     -EINVAL} for the address 0
     */
    public static native int read(long record);

    /**
     * Lets the calling thread's waits end when they are to. The kernel may otherwise be 50 microseconds late, so that it can end several
     * together. Not for virtual threads: it would be the carrier's.
     *
     * @return 0, or {@code -errno}: {@code -EPERM} where a sandbox does not allow it
     */
    public static native int exactTimers();
}
