package io.sluice.jni;

/**
 * Completion queues, and the completion channels that wake their waiters. See {@link VerbsLibrary} for the conventions
 * of these classes.
 */
public final class VerbsCompletionQueue {
    // The generated C header carries these values; the shim does not compile where those of libibverbs differ.

    /** Size of one record of {@link #poll} in bytes. */
    public static final int RECORD_BYTES = 32;

    /** Offset in a record of the {@code long} given with the work request. */
    public static final int RECORD_ID_OFFSET = 0;

    /** Offset in a record of the {@code int} with the status: {@link #SUCCESS} or one of the errors. */
    public static final int RECORD_STATUS_OFFSET = 8;

    /** Offset in a record of the {@code int} with the vendor's error code; 0 on success. */
    public static final int RECORD_VENDOR_ERROR_OFFSET = 12;

    /**
     * Offset in a record of the {@code int} with the number of bytes received, read or fetched, unsigned; 0 for others
     * and on errors.
     */
    public static final int RECORD_BYTES_OFFSET = 16;

    /** Offset in a record of the {@code int} with the number of the queue pair. */
    public static final int RECORD_QUEUE_PAIR_NUMBER_OFFSET = 20;

    /** Offset in a record of the {@code int} with the opcode, {@link #SEND} to {@link #RECEIVE}; 0 on errors. */
    public static final int RECORD_OPCODE_OFFSET = 24;

    /** Offset in a record of the {@code int} with the immediate, if the message has one; 0 otherwise. */
    public static final int RECORD_IMMEDIATE_OFFSET = 28;

    /** Opcode: send, with or without an immediate. */
    public static final int SEND = 0;

    /** Opcode: write, with or without an immediate. */
    public static final int WRITE = 1;

    /** Opcode: read. */
    public static final int READ = 2;

    /** Opcode: compare-and-swap. */
    public static final int COMPARE_AND_SWAP = 3;

    /** Opcode: fetch-and-add. */
    public static final int FETCH_ADD = 4;

    /** Opcode: receive of a message, with or without an immediate. */
    public static final int RECEIVE = 128;

    /** Opcode: receive of a peer's write with an immediate. */
    public static final int RECEIVE_RDMA_WITH_IMMEDIATE = 129;

    /** Status: success. */
    public static final int SUCCESS = 0;

    /** Status: a length is invalid, or a message exceeded its receive. */
    public static final int LOCAL_LENGTH_ERROR = 1;

    /** Status: the queue pair could not execute the work request. */
    public static final int LOCAL_QUEUE_PAIR_OPERATION_ERROR = 2;

    /** Status: no region of the local memory allows this access. */
    public static final int LOCAL_PROTECTION_ERROR = 4;

    /** Status: flushed, because the queue pair is in the error state. */
    public static final int FLUSHED = 5;

    /** Status: the peer sent an invalid response. */
    public static final int BAD_RESPONSE_ERROR = 7;

    /** Status: a peer's write with an immediate hit local memory that does not allow it. */
    public static final int LOCAL_ACCESS_ERROR = 8;

    /** Status: the peer considers the request invalid. */
    public static final int REMOTE_INVALID_REQUEST_ERROR = 9;

    /** Status: no region of the remote memory allows this access. */
    public static final int REMOTE_ACCESS_ERROR = 10;

    /** Status: the peer could not execute the request. */
    public static final int REMOTE_OPERATION_ERROR = 11;

    /** Status: no acknowledgement after all retries. */
    public static final int RETRIES_EXCEEDED = 12;

    /** Status: the peer had no receive posted, after all retries. */
    public static final int RECEIVER_NOT_READY_RETRIES_EXCEEDED = 13;

    /** Status: the peer aborted the request. */
    public static final int REMOTE_ABORTED_ERROR = 16;

    /** Status: the adapter has failed. */
    public static final int FATAL_ERROR = 19;

    /** Status: the response timed out. */
    public static final int RESPONSE_TIMEOUT_ERROR = 20;

    /** Status: any other error. */
    public static final int GENERAL_ERROR = 21;

    static {
        NativeLibrary.ensureAvailable();
    }

    private VerbsCompletionQueue() {}

    /**
     * Creates a completion channel.
     *
     * @param device the device
     * @return the channel's handle, or {@code -errno}: {@code -EMFILE}, {@code -ENOMEM}
     */
    public static native long createChannel(long device);

    /**
     * Returns the file descriptor that is readable while events are pending in a channel. It does not block, and
     * belongs to the channel: do not close it.
     *
     * @param channel the channel
     * @return the file descriptor or {@code -errno}
     */
    public static native int channelDescriptor(long channel);

    /**
     * Destroys a channel that no completion queue uses.
     *
     * @param channel the channel
     * @return 0 or {@code -errno}: {@code -EBUSY} if a queue still uses it
     */
    public static native int destroyChannel(long channel);

    /**
     * Creates a completion queue. It must have room for all completions that can be pending at once, including those of
     * flushed work: an overflow loses the queue and its queue pairs.
     *
     * @param device the device
     * @param entries the least capacity, at least 1
     * @param channel the channel to notify, or 0 for none
     * @return the queue's handle, or {@code -errno}: {@code -EINVAL} if the device supports less, {@code -ENOMEM}
     */
    public static native long create(long device, int entries, long channel);

    /**
     * Returns the capacity of a queue, which may exceed the requested one.
     *
     * @param queue the completion queue
     * @return the capacity or {@code -errno}
     */
    public static native int entries(long queue);

    /**
     * Destroys a completion queue that no queue pair uses. Blocks until all its events are acknowledged, so do not call
     * it where {@link #takeEvents} or {@link VerbsDevice#nextAsyncEvent} may be blocked.
     *
     * @param queue the completion queue
     * @return 0 or {@code -errno}: {@code -EBUSY} if a queue pair still uses it
     */
    public static native int destroy(long queue);

    /**
     * Takes completions in order of arrival. Nothing is allocated.
     *
     * <p>For an error the adapter provides only id, status, vendor error and queue pair: the rest of the record is
     * zero.
     *
     * @param queue the completion queue
     * @param recordsAddress the address of {@code maximum} records of {@link #RECORD_BYTES} bytes to write; see {@code
     *     RECORD_…_OFFSET}
     * @param maximum the most records to write, at least 1
     * @return the number of records written, or {@code -errno}: {@code -EIO} if the queue has failed
     */
    public static native int poll(long queue, long recordsAddress, int maximum);

    /**
     * Requests one event in the channel for the next completion. Pending completions raise none: poll once more before
     * waiting.
     *
     * @param queue the completion queue
     * @return 0 or {@code -errno}
     */
    public static native int requestNotification(long queue);

    /**
     * Takes and acknowledges all events of a channel. Events of other queues on the channel are not counted, so give
     * each queue its own channel.
     *
     * @param channel the channel
     * @param queue a completion queue of the channel
     * @return the number of events of that queue, or {@code -errno}
     */
    public static native int takeEvents(long channel, long queue);

    /**
     * Returns the description of a status.
     *
     * @param status the status of a completion
     * @return the text of libibverbs, for example {@code remote access error}; {@code unknown} for invalid numbers or
     *     without a loaded library
     */
    public static native String statusText(int status);
}
