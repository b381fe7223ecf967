package io.sluice.jni;

/**
 * Queue pairs of reliable connections (RC). See {@link VerbsLibrary} for the conventions of these classes.
 *
 * <p>A queue pair becomes usable by {@link #initialise}, {@link #readyToReceive} and {@link #readyToSend}, on both sides.
 */
public final class VerbsQueuePair {
    // The generated C header carries these values; the shim does not compile where those of libibverbs differ.

    /** Size of one record of {@link #post} in bytes. */
    public static final int RECORD_BYTES = 80;

    /** Offset in a record of the {@code long} with the handle of the queue pair. */
    public static final int RECORD_QUEUE_PAIR_OFFSET = 0;

    /** Offset in a record of the {@code long} that the completion returns. */
    public static final int RECORD_ID_OFFSET = 8;

    /** Offset in a record of the {@code long} with the address of the local memory, or of its gather list. */
    public static final int RECORD_LOCAL_ADDRESS_OFFSET = 16;

    /** Offset in a record of the {@code long} with the address of the remote memory; ignored for sends. */
    public static final int RECORD_REMOTE_ADDRESS_OFFSET = 24;

    /** Offset in a record of the {@code long} that an atomic compares with or adds; ignored otherwise. */
    public static final int RECORD_OPERAND_OFFSET = 32;

    /** Offset in a record of the {@code long} that {@link #COMPARE_AND_SWAP} stores; ignored otherwise. */
    public static final int RECORD_SWAP_OFFSET = 40;

    /**
     * Offset in a record of the {@code int} with the length in bytes, not negative; 8 for atomics. Length 0 needs no
     * memory.
     */
    public static final int RECORD_LENGTH_OFFSET = 48;

    /** Offset in a record of the {@code int} with the local key of the local memory; ignored when inline. */
    public static final int RECORD_LOCAL_KEY_OFFSET = 52;

    /** Offset in a record of the {@code int} with the remote key of the remote memory; ignored for sends. */
    public static final int RECORD_REMOTE_KEY_OFFSET = 56;

    /** Offset in a record of the {@code int} with the immediate, if the opcode has one. */
    public static final int RECORD_IMMEDIATE_OFFSET = 60;

    /** Offset in a record of the {@code int} with the opcode, {@link #WRITE} to {@link #FETCH_ADD}. */
    public static final int RECORD_OPCODE_OFFSET = 64;

    /** Offset in a record of the {@code int} with a bitwise union of {@link #FENCE} to {@link #INLINE}. */
    public static final int RECORD_FLAGS_OFFSET = 68;

    /**
     * Offset in a record of the {@code int} with the number of gather entries; 0 for one piece of memory, described in
     * the record itself.
     */
    public static final int RECORD_PIECES_OFFSET = 72;

    /** Size of a gather entry in bytes. */
    public static final int PIECE_BYTES = 16;

    /** Offset in a gather entry of the {@code long} with its address. */
    public static final int PIECE_ADDRESS_OFFSET = 0;

    /** Offset in a gather entry of the {@code int} with its length in bytes, at least 1. */
    public static final int PIECE_LENGTH_OFFSET = 8;

    /** Offset in a gather entry of the {@code int} with its local key. */
    public static final int PIECE_LOCAL_KEY_OFFSET = 12;

    /** Opcode: write to remote memory. */
    public static final int WRITE = 0;

    /** Opcode: write to remote memory and complete a receive of the peer with an immediate. */
    public static final int WRITE_WITH_IMMEDIATE = 1;

    /** Opcode: send a message to a receive of the peer. */
    public static final int SEND = 2;

    /** Opcode: send a message with an immediate to a receive of the peer. */
    public static final int SEND_WITH_IMMEDIATE = 3;

    /** Opcode: read from remote memory. */
    public static final int READ = 4;

    /**
     * Opcode: store {@code swap} in 8 bytes of remote memory if they equal {@code operand}; returns the previous value.
     */
    public static final int COMPARE_AND_SWAP = 5;

    /** Opcode: add {@code operand} to 8 bytes of remote memory; returns the previous value. */
    public static final int FETCH_ADD = 6;

    /** Flag: start only after all earlier reads and atomics of the queue pair have completed. */
    public static final int FENCE = 1;

    /** Flag: generate a completion. Without it, only a failed or flushed work request generates one. */
    public static final int SIGNALED = 1 << 1;

    /** Flag: at the peer, the message also wakes waiters for solicited messages. */
    public static final int SOLICITED = 1 << 2;

    /** Flag: copy the bytes while posting. Only for writes and sends of at most {@link #inlineBytes} bytes. */
    public static final int INLINE = 1 << 3;

    /** Size of the record of {@link #readyToReceive} in bytes. */
    public static final int PATH_BYTES = 64;

    /** Offset of the {@code int} with the path MTU in bytes: 256, 512, 1024, 2048 or 4096, the same on both sides. */
    public static final int PATH_MTU_BYTES_OFFSET = 0;

    /** Offset of the {@code int} with the number of the remote queue pair. */
    public static final int PATH_DESTINATION_QUEUE_PAIR_OFFSET = 4;

    /** Offset of the {@code int} with the first expected packet sequence number, 24 bits. */
    public static final int PATH_RECEIVE_SEQUENCE_OFFSET = 8;

    /** Offset of the {@code int} with the number of reads and atomics to serve concurrently, 0 to 255. */
    public static final int PATH_MAX_READ_DEPTH_AS_TARGET_OFFSET = 12;

    /**
     * Offset of the {@code int} with the minimum RNR timer, how long a peer without receive waits: the code 0 to 31 of
     * the specification.
     */
    public static final int PATH_MINIMUM_RNR_TIMER_OFFSET = 16;

    /** Offset of the {@code int} with the number of the local port, from 1. */
    public static final int PATH_PORT_OFFSET = 20;

    /** Offset of the {@code int} with the index of the local GID, 0 to 255; only for a global path. */
    public static final int PATH_SOURCE_GID_INDEX_OFFSET = 24;

    /** Offset of the {@code int} with the hop limit, 0 to 255; only for a global path. */
    public static final int PATH_HOP_LIMIT_OFFSET = 28;

    /** Offset of the {@code int} with the traffic class, 0 to 255; only for a global path. */
    public static final int PATH_TRAFFIC_CLASS_OFFSET = 32;

    /** Offset of the {@code int} with the service level, 0 to 15. */
    public static final int PATH_SERVICE_LEVEL_OFFSET = 36;

    /** Offset of the {@code int} with the local identifier of the remote port, 0 to 65535; 0 on Ethernet. */
    public static final int PATH_DESTINATION_LID_OFFSET = 40;

    /** Offset of the {@code int} that is nonzero for a global path, by GIDs, which Ethernet requires. */
    public static final int PATH_IS_GLOBAL_OFFSET = 44;

    /** Offset of the 16 bytes of the remote GID, in network byte order; only for a global path. */
    public static final int PATH_DESTINATION_GID_OFFSET = 48;

    /** State: created or reset. */
    public static final int STATE_RESET = 0;

    /** State: after {@link #initialise}. */
    public static final int STATE_INITIALISED = 1;

    /** State: after {@link #readyToReceive}. */
    public static final int STATE_READY_TO_RECEIVE = 2;

    /** State: after {@link #readyToSend}. */
    public static final int STATE_READY_TO_SEND = 3;

    /** State: the send queue is draining on request. */
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
     * Creates a queue pair whose work requests complete if {@link #SIGNALED}.
     *
     * @param domain the protection domain
     * @param completionQueue the completion queue of sends and receives
     * @param receiveQueue the shared receive queue that provides memory for messages
     * @param sendDepth the least depth of the send queue, at least 1
     * @param pieces the most gather entries of a work request, at least 1
     * @param inlineBytes the least supported length of {@link #INLINE} requests, not negative
     * @return the queue pair's handle, or {@code -errno}: {@code -EINVAL} if the device supports less, {@code -ENOMEM}
     */
    public static native long create(
            long domain, long completionQueue, long receiveQueue, int sendDepth, int pieces, int inlineBytes);

    /**
     * Returns the number that identifies a queue pair to the peer, in completions and in asynchronous events.
     *
     * @param queuePair the queue pair
     * @return the number, of 24 bits, or {@code -errno}
     */
    public static native int number(long queuePair);

    /**
     * Returns the depth of the send queue, which may exceed the requested one.
     *
     * @param queuePair the queue pair
     * @return how many work requests it holds, or {@code -errno}
     */
    public static native int sendDepth(long queuePair);

    /**
     * Returns the greatest length of {@link #INLINE} requests, which may exceed the requested one.
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
     * @return 0, or {@code -errno}: {@code -EINVAL} in another state or for a value out of its range; {@code
     *     -ETIMEDOUT}, {@code -ENETUNREACH}, {@code -EHOSTUNREACH} and others if there is no route to that GID
     */
    public static native int readyToReceive(long queuePair, long recordAddress);

    /**
     * Enables sending: from {@link #STATE_READY_TO_RECEIVE} to {@link #STATE_READY_TO_SEND}.
     *
     * @param queuePair the queue pair
     * @param timeout how long to wait for an acknowledgement, 0 to 31: 4.096 µs times two to this power; 0 is forever
     * @param retries how many times to retransmit without an acknowledgement, 0 to 7
     * @param rnrRetries how many times to retransmit when the peer had no receive, 0 to 7; 7 is forever
     * @param sendSequence the first packet sequence number sent, 24 bits: the peer's receive sequence
     * @param maxReadDepthAsInitiator the most reads and atomics in flight, 0 to 255; at most what the peer serves
     * @return 0 or {@code -errno}: {@code -EINVAL} in another state or for a value out of its range
     */
    public static native int readyToSend(
            long queuePair, int timeout, int retries, int rnrRetries, int sendSequence, int maxReadDepthAsInitiator);

    /**
     * Ends all work: it completes as {@link VerbsCompletionQueue#FLUSHED}, and peers receive no more answers.
     *
     * @param queuePair the queue pair
     * @return 0 or {@code -errno}
     */
    public static native int toError(long queuePair);

    /**
     * Resets a queue pair. Requests in flight and unpolled completions may be lost.
     *
     * @param queuePair the queue pair
     * @return 0 or {@code -errno}
     */
    public static native int toReset(long queuePair);

    /**
     * Queries the device for the state of a queue pair.
     *
     * @param queuePair the queue pair
     * @return one of {@code STATE_…}, or {@code -errno}
     */
    public static native int state(long queuePair);

    /**
     * Destroys a queue pair. Once this returns 0, the adapter accesses no memory for it. Blocks until its asynchronous
     * events are acknowledged.
     *
     * @param queuePair the queue pair
     * @return 0 or {@code -errno}
     */
    public static native int destroy(long queuePair);

    /**
     * Posts work requests, possibly of several queue pairs; consecutive ones of one queue pair go to the adapter together.
     * Nothing is allocated.
     *
     * <p>A record of length 0 needs no memory. Gather lists are read during the call. Invalid combinations, such as
     * {@link #INLINE} with {@link #READ}, are not checked here and fail at the adapter.
     *
     * @param recordsAddress {@code count} records of {@link #RECORD_BYTES} bytes; see {@code RECORD_…_OFFSET}
     * @param count the number of records, at least 1
     * @return how many were accepted, counted from the first. If fewer than {@code count}, the next one was refused;
     *     posting it again returns the reason. {@code -errno} if the first was refused: {@code -ENOMEM} if the send
     *     queue is full, {@code -EINVAL} for an invalid opcode, flag, length or number of gather entries, or in a state
     *     that does not send
     */
    public static native int post(long recordsAddress, int count);
}
