package io.sluice.jni;

/** The kernel scheduler's times of a thread. */
public final class ThreadSchedule {
    /** The size of a record. */
    public static final int RECORD_BYTES = 16;

    /** Offset of the time that the thread has run on a processor: 8 bytes, nanoseconds. */
    public static final int RECORD_RAN_OFFSET = 0;

    /** Offset of the time that the thread was runnable but had no processor: 8 bytes, nanoseconds. */
    public static final int RECORD_WAITED_OFFSET = 8;

    static {
        NativeLibrary.ensureAvailable();
    }

    private ThreadSchedule() {}

    /**
     * Reads what is counted of the calling thread since it began. Not for virtual threads: it would be their carrier's.
     *
     * @param record the address of a record to write
     * @return 0, or {@code -errno}: {@code -ENOENT} or {@code -ENOSYS} where the kernel does not tell, {@code -EINVAL} for the
     *     address 0
     */
    public static native int read(long record);
}
