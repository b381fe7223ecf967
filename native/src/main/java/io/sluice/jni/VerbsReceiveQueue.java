package io.sluice.jni;

/**
 * Receive queues that several queue pairs share, with the memory for messages to come. See {@link VerbsLibrary} for what
 * all these classes share.
 */
public final class VerbsReceiveQueue {
    // The generated C header carries all these values.

    /** Size of one record of {@link #post} in bytes; the last 8 are not looked at. */
    public static final int RECORD_BYTES = 32;

    /** Offset in a record of the {@code long} that comes back with the completion. */
    public static final int RECORD_ID_OFFSET = 0;

    /** Offset in a record of the {@code long} with the address of the memory. */
    public static final int RECORD_ADDRESS_OFFSET = 8;

    /** Offset in a record of the {@code int} with its length in bytes; 0 for messages without bytes. */
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
     * @param workRequests how many work requests it must hold, at least 1
     * @return the queue's handle, or {@code -errno}: {@code -EINVAL} for more than the device has, {@code -ENOMEM}
     */
    public static native long create(long domain, int workRequests);

    /**
     * Returns how many work requests a queue holds, which may be more than was asked for.
     *
     * @param queue the receive queue
     * @return how many or {@code -errno}
     */
    public static native int depth(long queue);

    /**
     * Posts memory for messages. Each message takes the memory of one work request, in the order of posting. Nothing is
     * allocated.
     *
     * @param queue the receive queue
     * @param recordsAddress {@code count} records of {@link #RECORD_BYTES} bytes; see {@code RECORD_…_OFFSET}
     * @param count how many, at least 1
     * @return how many were taken, from the first on; fewer than {@code count} means that the next one was refused, and
     *     offering it again tells why. {@code -errno} if not even the first was: {@code -ENOMEM} if the queue is full,
     *     {@code -EINVAL} for a negative length
     */
    public static native int post(long queue, long recordsAddress, int count);

    /**
     * Destroys a receive queue that no queue pair uses any more; what is still posted never completes. This waits until
     * its asynchronous events are acknowledged.
     *
     * @param queue the receive queue
     * @return 0 or {@code -errno}: {@code -EBUSY} if a queue pair still uses it
     */
    public static native int destroy(long queue);
}
