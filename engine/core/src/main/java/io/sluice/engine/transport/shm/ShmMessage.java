package io.sluice.engine.transport.shm;

import io.sluice.engine.ProtocolException;
import java.nio.ByteBuffer;

/** The messages between two endpoints, over the control channel or, with descriptors, over the Unix socket. */
final class ShmMessage {
    // over the control channel
    /** From the target: an attachment has ended; its handle. */
    static final byte ENDED = 1;

    /** From the initiator: an attachment is no longer used; its handle. */
    static final byte RELEASED = 2;

    /** From the initiator: requests the files of these attachments; their handles. */
    static final byte WANTED = 3;

    // over the Unix socket; 0 is a wake-up
    /** From the initiator at the meeting point: the secret and the control segment. */
    static final byte HELLO = 11;

    /** The acceptor has mapped the control segment. */
    static final byte WELCOME = 12;

    /** From the target: for each requested attachment its handle, and 1 if its file is attached, in request order. */
    static final byte FILES = 13;

    /**
     * This side's endpoint has stopped and accesses no memory any more; it keeps the socket open until the other side
     * stops as well.
     */
    static final byte STOPPED = 14;

    /** The most files requested at once, so that they never fill a Unix socket. */
    static final int MOST_FILES = 64;

    private ShmMessage() {}

    static byte[] of(byte type, long handle) {
        return ByteBuffer.allocate(1 + Long.BYTES).put(type).putLong(handle).array();
    }

    static ByteBuffer need(ByteBuffer message, int bytes) {
        if (message.remaining() < bytes) {
            throw new ProtocolException("the peer sent a truncated message to the shm endpoint");
        }
        return message;
    }
}
