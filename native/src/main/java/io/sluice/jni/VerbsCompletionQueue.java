package io.sluice.jni;

/**
 * Completion queues, and the channels that wake threads that wait for them. See {@link VerbsLibrary} for what all these
 * classes share.
 */
public final class VerbsCompletionQueue {
    // The generated C header carries all these values, and the shim's compilation fails where libibverbs's differ.

    /** Size of one record of {@link #poll} in bytes. */
    public static final int RECORD_BYTES = 32;

    /** Offset in a record of the {@code long} that was given with the work request. */
    public static final int RECORD_ID_OFFSET = 0;

    /** Offset in a record of the {@code int} that says how it ended: {@link #SUCCESS} or one of the other statuses. */
    public static final int RECORD_STATUS_OFFSET = 8;

    /** Offset in a record of the {@code int} with the vendor's own number for an error; 0 on success. */
    public static final int RECORD_VENDOR_ERROR_OFFSET = 12;

    /**
     * Offset in a record of the {@code int} with the number of bytes that came, of a receive, a read or an atomic; 0 for
     * others and on errors. It counts without a sign.
     */
    public static final int RECORD_BYTES_OFFSET = 16;

    /** Offset in a record of the {@code int} with the number of the queue pair. */
    public static final int RECORD_QUEUE_PAIR_NUMBER_OFFSET = 20;

    /** Offset in a record of the {@code int} with what was completed, {@link #SEND} to {@link #RECEIVE}; 0 on errors. */
    public static final int RECORD_OPCODE_OFFSET = 24;

    /** Offset in a record of the {@code int} that came with a message that has one; 0 otherwise. */
    public static final int RECORD_IMMEDIATE_OFFSET = 28;

    /** Opcode: a message was sent, with an immediate or without. */
    public static final int SEND = 0;

    /** Opcode: a write was done, with an immediate or without. */
    public static final int WRITE = 1;

    /** Opcode: a read was done. */
    public static final int READ = 2;

    /** Opcode: a compare-and-swap was done. */
    public static final int COMPARE_AND_SWAP = 3;

    /** Opcode: a fetch-and-add was done. */
    public static final int FETCH_ADD = 4;

    /** Opcode: a message has come, with an immediate or without. */
    public static final int RECEIVE = 128;

    /** Opcode: a peer's write with an immediate has come. */
    public static final int RECEIVE_RDMA_WITH_IMMEDIATE = 129;

    /** Status: done. */
    public static final int SUCCESS = 0;

    /** Status: a length is not allowed here, or a message was longer than the memory for it. */
    public static final int LOCAL_LENGTH_ERROR = 1;

    /** Status: the queue pair could not execute the work request. */
    public static final int LOCAL_QUEUE_PAIR_OPERATION_ERROR = 2;

    /** Status: the memory of this side is in no region that allows this. */
    public static final int LOCAL_PROTECTION_ERROR = 4;

    /** Status: never begun or left unfinished, because the queue pair is in the error state. */
    public static final int FLUSHED = 5;

    /** Status: the peer's answer made no sense. */
    public static final int BAD_RESPONSE_ERROR = 7;

    /** Status: a peer's write with an immediate met memory of this side that does not allow it. */
    public static final int LOCAL_ACCESS_ERROR = 8;

    /** Status: the peer found the request invalid. */
    public static final int REMOTE_INVALID_REQUEST_ERROR = 9;

    /** Status: the memory at the peer is in no region that allows this. */
    public static final int REMOTE_ACCESS_ERROR = 10;

    /** Status: the peer could not execute the request. */
    public static final int REMOTE_OPERATION_ERROR = 11;

    /** Status: the peer, or the way to it, did not answer. */
    public static final int RETRIES_EXCEEDED = 12;

    /** Status: the peer had no memory posted for a message, repeatedly. */
    public static final int RECEIVER_NOT_READY_RETRIES_EXCEEDED = 13;

    /** Status: the peer aborted the request. */
    public static final int REMOTE_ABORTED_ERROR = 16;

    /** Status: the adapter has failed. */
    public static final int FATAL_ERROR = 19;

    /** Status: no response came in time. */
    public static final int RESPONSE_TIMEOUT_ERROR = 20;

    /** Status: any other error. */
    public static final int GENERAL_ERROR = 21;

    static {
        NativeLibrary.ensureAvailable();
    }

    private VerbsCompletionQueue() {}

    /**
     * Creates a channel on which completion queues announce completions.
     *
     * @param device the device
     * @return the channel's handle, or {@code -errno}: {@code -EMFILE}, {@code -ENOMEM}
     */
    public static native long createChannel(long device);

    /**
     * Returns the file descriptor that is readable while events wait in a channel. It does not block, and belongs to
     * the channel: never close it.
     *
     * @param channel the channel
     * @return the file descriptor or {@code -errno}
     */
    public static native int channelDescriptor(long channel);

    /**
     * Destroys a channel that no completion queue uses any more.
     *
     * @param channel the channel
     * @return 0 or {@code -errno}: {@code -EBUSY} if a queue still uses it
     */
    public static native int destroyChannel(long channel);

    /**
     * Creates a completion queue. It must have room for all completions that can be in it at once, of flushed work
     * requests too: one that overflows is lost with its queue pairs.
     *
     * @param device the device
     * @param entries how many completions it must hold, at least 1
     * @param channel where to announce completions, or 0 for nowhere
     * @return the queue's handle, or {@code -errno}: {@code -EINVAL} for more entries than the device has, {@code
     *     -ENOMEM}
     */
    public static native long create(long device, int entries, long channel);

    /**
     * Returns how many completions a queue holds, which may be more than was asked for.
     *
     * @param queue the completion queue
     * @return how many or {@code -errno}
     */
    public static native int entries(long queue);

    /**
     * Destroys a completion queue that no queue pair uses any more. This waits until all its events are acknowledged, so
     * it must not run while {@link #takeEvents} or {@link VerbsDevice#nextAsyncEvent} can be kept from returning.
     *
     * @param queue the completion queue
     * @return 0 or {@code -errno}: {@code -EBUSY} if a queue pair still uses it
     */
    public static native int destroy(long queue);

    /**
     * Takes completions, in the order in which they came. Nothing is allocated.
     *
     * <p>On an error the adapter tells nothing but the id, the status, the vendor's error and the queue pair: the rest of
     * the record is zero.
     *
     * @param queue the completion queue
     * @param recordsAddress where to write {@code maximum} records of {@link #RECORD_BYTES} bytes; see
     *     {@code RECORD_…_OFFSET}
     * @param maximum how many records there is room for, at least 1
     * @return how many records were written, or {@code -errno}: {@code -EIO} if the queue is broken
     */
    public static native int poll(long queue, long recordsAddress, int maximum);

    /**
     * Asks for one event in the channel when the next completion comes. Completions that are there already make none: so
     * poll once more afterwards, before waiting.
     *
     * @param queue the completion queue
     * @return 0 or {@code -errno}
     */
    public static native int requestNotification(long queue);

    /**
     * Takes all events of a channel and acknowledges them. Those of other queues that announce into the same channel are
     * not counted, so give each queue a channel of its own.
     *
     * @param channel the channel
     * @param queue a completion queue that announces into the channel
     * @return how many there were of that queue, or {@code -errno}
     */
    public static native int takeEvents(long channel, long queue);

    /**
     * Describes a status for people.
     *
     * @param status the status of a completion
     * @return libibverbs's own English words for it, for example {@code remote access error}; {@code unknown} for numbers
     *     that are none, or when the library is not loaded
     */
    public static native String statusText(int status);
}
