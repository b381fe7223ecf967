package io.sluice.jni;

/** Receive queues shared by several queue pairs. See {@link VerbsLibrary} for the conventions of these classes. */
public final class VerbsReceiveQueue {
    // The generated C header carries these values.

    /** Size of one record of {@link #post} in bytes; the last 8 are ignored. */
    public static final int RECORD_BYTES = 32;

    /** Offset in a record of the {@code long} that the completion returns. */
    public static final int RECORD_ID_OFFSET = 0;

    /** Offset in a record of the {@code long} with the address of the memory. */
    public static final int RECORD_ADDRESS_OFFSET = 8;

    /** Offset in a record of the {@code int} with its length in bytes; 0 for empty messages. */
    public static final int RECORD_LENGTH_OFFSET = 16;

    /** Offset in a record of the {@code int} with the region's local key. */
    public static final int RECORD_LOCAL_KEY_OFFSET = 20;

    static {
        NativeLibrary.ensureAvailable();
    }

    private VerbsReceiveQueue() {}

    /**
     * Creates a shared receive queue.
     *
     * @param domain the protection domain
     * @param workRequests the least depth of the queue, at least 1
     * @return the queue's handle, or {@code -errno}: {@code -EINVAL} if the device supports less, {@code -ENOMEM}
     */
    public static native long create(long domain, int workRequests);

    /**
     * Returns the depth of the queue, which may exceed the requested one.
     *
     * @param queue the receive queue
     * @return the depth or {@code -errno}
     */
    public static native int depth(long queue);

    /**
     * Posts receives. Each message consumes one, in posting order. Nothing is allocated.
     *
     * @param queue the receive queue
     * @param recordsAddress {@code count} records of {@link #RECORD_BYTES} bytes; see {@code RECORD_…_OFFSET}
     * @param count the number of records, at least 1
     * @return how many were accepted, counted from the first. If fewer than {@code count}, the next one was refused;
     *     posting it again returns the reason. {@code -errno} if the first was refused: {@code -ENOMEM} if the queue is
     *     full, {@code -EINVAL} for a negative length
     */
    public static native int post(long queue, long recordsAddress, int count);

    /**
     * Destroys a receive queue that no queue pair uses; posted receives never complete. Blocks until its asynchronous
     * events are acknowledged.
     *
     * @param queue the receive queue
     * @return 0 or {@code -errno}: {@code -EBUSY} if a queue pair still uses it
     */
    public static native int destroy(long queue);
}
