package io.sluice.jni;

/**
 * Queue pairs of reliable connections (RC). See {@link VerbsLibrary} for what all these classes share.
 *
 * <p>A queue pair becomes usable by {@link #initialise}, {@link #readyToReceive} and {@link #readyToSend}, on both sides.
 */
public final class VerbsQueuePair {
    // The generated C header carries all these values, and the shim's compilation fails where libibverbs's differ.

    /** Size of one record of {@link #post} in bytes. */
    public static final int RECORD_BYTES = 80;

    /** Offset in a record of the {@code long} with the handle of the queue pair. */
    public static final int RECORD_QUEUE_PAIR_OFFSET = 0;

    /** Offset in a record of the {@code long} that comes back with the completion. */
    public static final int RECORD_ID_OFFSET = 8;

    /** Offset in a record of the {@code long} with the address of this side's memory, or of the list of its pieces. */
    public static final int RECORD_LOCAL_ADDRESS_OFFSET = 16;

    /** Offset in a record of the {@code long} with the address of the peer's memory; for sends it is ignored. */
    public static final int RECORD_REMOTE_ADDRESS_OFFSET = 24;

    /** Offset in a record of the {@code long} that an atomic compares with or adds; for others it is ignored. */
    public static final int RECORD_OPERAND_OFFSET = 32;

    /** Offset in a record of the {@code long} that {@link #COMPARE_AND_SWAP} puts in; for others it is ignored. */
    public static final int RECORD_SWAP_OFFSET = 40;

    /** Offset in a record of the {@code int} with the number of bytes, not negative; 8 for atomics. 0 needs no memory. */
    public static final int RECORD_LENGTH_OFFSET = 48;

    /** Offset in a record of the {@code int} with the local key of this side's memory; ignored when inline. */
    public static final int RECORD_LOCAL_KEY_OFFSET = 52;

    /** Offset in a record of the {@code int} with the remote key of the peer's memory; for sends it is ignored. */
    public static final int RECORD_REMOTE_KEY_OFFSET = 56;

    /** Offset in a record of the {@code int} that goes with the message, if the opcode has one. */
    public static final int RECORD_IMMEDIATE_OFFSET = 60;

    /** Offset in a record of the {@code int} with what to do, {@link #WRITE} to {@link #FETCH_ADD}. */
    public static final int RECORD_OPCODE_OFFSET = 64;

    /** Offset in a record of the {@code int} with a union of {@link #FENCE} to {@link #INLINE}. */
    public static final int RECORD_FLAGS_OFFSET = 68;

    /**
     * Offset in a record of the {@code int} with the number of pieces that this side's memory is in; 0 for one piece, whose address
     * the record has itself.
     */
    public static final int RECORD_PIECES_OFFSET = 72;

    /** Size of one entry of a list of pieces in bytes. */
    public static final int PIECE_BYTES = 16;

    /** Offset in an entry of the {@code long} with the address of the piece. */
    public static final int PIECE_ADDRESS_OFFSET = 0;

    /** Offset in an entry of the {@code int} with the number of bytes, at least 1. */
    public static final int PIECE_LENGTH_OFFSET = 8;

    /** Offset in an entry of the {@code int} with the local key of the piece. */
    public static final int PIECE_LOCAL_KEY_OFFSET = 12;

    /** Opcode: write into the peer's memory. */
    public static final int WRITE = 0;

    /** Opcode: write into the peer's memory, and complete one of its receives with an immediate. */
    public static final int WRITE_WITH_IMMEDIATE = 1;

    /** Opcode: send a message into one of the peer's receives. */
    public static final int SEND = 2;

    /** Opcode: send a message with an immediate into one of the peer's receives. */
    public static final int SEND_WITH_IMMEDIATE = 3;

    /** Opcode: read from the peer's memory. */
    public static final int READ = 4;

    /** Opcode: put {@code swap} into 8 bytes of the peer's memory if they hold {@code operand}; gives what they held. */
    public static final int COMPARE_AND_SWAP = 5;

    /** Opcode: add {@code operand} to 8 bytes of the peer's memory; gives what they held. */
    public static final int FETCH_ADD = 6;

    /** Flag: begin only when all earlier reads and atomics of the queue pair have ended. */
    public static final int FENCE = 1;

    /** Flag: make a completion. Without it there is one only if the work request fails or is flushed. */
    public static final int SIGNALED = 1 << 1;

    /** Flag: at the peer this message is one that wakes those who wait for solicited messages only. */
    public static final int SOLICITED = 1 << 2;

    /** Flag: copy the bytes while posting. Only for writes and sends of at most {@link #inlineBytes} bytes. */
    public static final int INLINE = 1 << 3;

    /** Size of the record of {@link #readyToReceive} in bytes. */
    public static final int PATH_BYTES = 64;

    /** Offset of the {@code int} with the path MTU in bytes: 256, 512, 1024, 2048 or 4096, the same on both sides. */
    public static final int PATH_MTU_BYTES_OFFSET = 0;

    /** Offset of the {@code int} with the number of the peer's queue pair. */
    public static final int PATH_DESTINATION_QUEUE_PAIR_OFFSET = 4;

    /** Offset of the {@code int} with the first sequence number to come, of 24 bits. */
    public static final int PATH_RECEIVE_SEQUENCE_OFFSET = 8;

    /** Offset of the {@code int} with how many reads and atomics to serve at once, 0 to 255. */
    public static final int PATH_MAX_READ_DEPTH_AS_TARGET_OFFSET = 12;

    /** Offset of the {@code int} with how long a peer waits that found no receive: the code of 0 to 31 of the standard. */
    public static final int PATH_MINIMUM_RNR_TIMER_OFFSET = 16;

    /** Offset of the {@code int} with the number of this side's port, from 1. */
    public static final int PATH_PORT_OFFSET = 20;

    /** Offset of the {@code int} with the index of this side's GID, 0 to 255; only for a global path. */
    public static final int PATH_SOURCE_GID_INDEX_OFFSET = 24;

    /** Offset of the {@code int} with how many routers may be on the way, 0 to 255; only for a global path. */
    public static final int PATH_HOP_LIMIT_OFFSET = 28;

    /** Offset of the {@code int} with the traffic class, 0 to 255; only for a global path. */
    public static final int PATH_TRAFFIC_CLASS_OFFSET = 32;

    /** Offset of the {@code int} with the service level, 0 to 15. */
    public static final int PATH_SERVICE_LEVEL_OFFSET = 36;

    /** Offset of the {@code int} with the local identifier of the peer's port, 0 to 65535; 0 on Ethernet. */
    public static final int PATH_DESTINATION_LID_OFFSET = 40;

    /** Offset of the {@code int} that is not 0 for a global path, by GIDs, which Ethernet needs. */
    public static final int PATH_IS_GLOBAL_OFFSET = 44;

    /** Offset of the 16 bytes of the peer's GID, in network byte order; only for a global path. */
    public static final int PATH_DESTINATION_GID_OFFSET = 48;

    /** State: made, or back at the beginning. */
    public static final int STATE_RESET = 0;

    /** State: after {@link #initialise}. */
    public static final int STATE_INITIALISED = 1;

    /** State: after {@link #readyToReceive}. */
    public static final int STATE_READY_TO_RECEIVE = 2;

    /** State: after {@link #readyToSend}. */
    public static final int STATE_READY_TO_SEND = 3;

    /** State: the send queue was asked to drain. */
    public static final int STATE_SEND_QUEUE_DRAINED = 4;

    /** State: the send queue has failed; never with reliable connections. */
    public static final int STATE_SEND_QUEUE_ERROR = 5;

    /** State: failed, or after {@link #toError}; all work is flushed. */
    public static final int STATE_ERROR = 6;

    static {
        NativeLibrary.ensureAvailable();
    }

    private VerbsQueuePair() {}

    /**
     * Creates a queue pair whose work requests complete when {@link #SIGNALED}.
     *
     * @param domain the protection domain
     * @param completionQueue where sends and receives complete
     * @param receiveQueue the shared receive queue that messages take memory from
     * @param sendDepth how many work requests it must hold, at least 1
     * @param pieces how many pieces of memory a work request may have, at least 1
     * @param inlineBytes how many bytes must go {@link #INLINE}, not negative
     * @return the queue pair's handle, or {@code -errno}: {@code -EINVAL} for more than the device has, {@code -ENOMEM}
     */
    public static native long create(
            long domain, long completionQueue, long receiveQueue, int sendDepth, int pieces, int inlineBytes);

    /**
     * Returns the number by which the peer, completions and asynchronous events know a queue pair.
     *
     * @param queuePair the queue pair
     * @return the number, of 24 bits, or {@code -errno}
     */
    public static native int number(long queuePair);

    /**
     * Returns how many work requests a queue pair holds, which may be more than was asked for.
     *
     * @param queuePair the queue pair
     * @return how many or {@code -errno}
     */
    public static native int sendDepth(long queuePair);

    /**
     * Returns how many bytes can go {@link #INLINE}, which may be more than was asked for.
     *
     * @param queuePair the queue pair
     * @return how many or {@code -errno}
     */
    public static native int inlineBytes(long queuePair);

    /**
     * Binds a queue pair to a port: from {@link #STATE_RESET} to {@link #STATE_INITIALISED}.
     *
     * @param queuePair the queue pair
     * @param port the port's number, from 1
     * @param partitionKeyIndex index of the partition key, usually 0
     * @param access what the peer may do in regions that allow it too: a union of {@link VerbsMemory#LOCAL_WRITE},
     *     {@link VerbsMemory#REMOTE_WRITE}, {@link VerbsMemory#REMOTE_READ} and {@link VerbsMemory#REMOTE_ATOMIC}
     * @return 0 or {@code -errno}: {@code -EINVAL} in another state or for a value out of its range
     */
    public static native int initialise(long queuePair, int port, int partitionKeyIndex, int access);

    /**
     * Sets the path to the peer: from {@link #STATE_INITIALISED} to {@link #STATE_READY_TO_RECEIVE}.
     *
     * @param queuePair the queue pair
     * @param recordAddress {@link #PATH_BYTES} bytes; see {@code PATH_…_OFFSET}
     * @return 0, or {@code -errno}: {@code -EINVAL} in another state or for a value out of its range; {@code -ETIMEDOUT},
     *     {@code -ENETUNREACH}, {@code -EHOSTUNREACH} and others if there is no way to that GID
     */
    public static native int readyToReceive(long queuePair, long recordAddress);

    /**
     * Lets work requests go out: from {@link #STATE_READY_TO_RECEIVE} to {@link #STATE_READY_TO_SEND}.
     *
     * @param queuePair the queue pair
     * @param timeout how long to wait for an acknowledgement, 0 to 31: 4.096 µs times two to this power; 0 is forever
     * @param retries how many times to send again what was not acknowledged, 0 to 7
     * @param rnrRetries how many times to send again when the peer had no receive, 0 to 7; 7 is forever
     * @param sendSequence the first sequence number to go out, of 24 bits: the peer's receive sequence
     * @param maxReadDepthAsInitiator how many reads and atomics may be under way at once, 0 to 255; at most what the
     *     peer serves
     * @return 0 or {@code -errno}: {@code -EINVAL} in another state or for a value out of its range
     */
    public static native int readyToSend(
            long queuePair, int timeout, int retries, int rnrRetries, int sendSequence, int maxReadDepthAsInitiator);

    /**
     * Ends all work: it completes as {@link VerbsCompletionQueue#FLUSHED}, and peers get no more answers.
     *
     * @param queuePair the queue pair
     * @return 0 or {@code -errno}
     */
    public static native int toError(long queuePair);

    /**
     * Resets a queue pair. Requests in flight, and completions that were not polled, may be
     * lost.
     *
     * @param queuePair the queue pair
     * @return 0 or {@code -errno}
     */
    public static native int toReset(long queuePair);

    /**
     * Asks the device for the state of a queue pair.
     *
     * @param queuePair the queue pair
     * @return one of {@code STATE_…}, or {@code -errno}
     */
    public static native int state(long queuePair);

    /**
     * Destroys a queue pair. When it returns 0 the adapter touches no memory for it any more. This waits until its
     * asynchronous events are acknowledged.
     *
     * @param queuePair the queue pair
     * @return 0 or {@code -errno}
     */
    public static native int destroy(long queuePair);

    /**
     * Posts work requests, possibly of several queue pairs; consecutive ones of one queue pair go to the adapter together.
     * Nothing is allocated.
     *
     * <p>A length of 0 has no piece of memory. A list of pieces is read during the call. Invalid combinations, such as
     * {@link #INLINE} with {@link #READ}, are not checked here, and fail at the adapter.
     *
     * @param recordsAddress {@code count} records of {@link #RECORD_BYTES} bytes; see {@code RECORD_…_OFFSET}
     * @param count how many, at least 1
     * @return how many were accepted, from the first on; fewer than {@code count} means that the next one was refused, and
     *     offering it again tells why. {@code -errno} if not even the first was: {@code -ENOMEM} if the send queue is
     *     full, {@code -EINVAL} for an opcode, a flag, a length or a number of pieces that is none, for more pieces than the
     *     queue pair takes, or in a state that does not send
     */
    public static native int post(long recordsAddress, int count);
}
