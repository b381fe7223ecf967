package io.sluice.engine.transport.shm;

import io.sluice.engine.ProtocolException;
import java.nio.ByteBuffer;

/** The messages between two endpoints: over the control channel, or, with descriptors, over the Unix socket. */
final class ShmMessage {
    // over the control channel
    /** The target: an attachment has ended; its handle. */
    static final byte ENDED = 1;

    /** The initiator: nothing here uses an attachment any more; its handle. */
    static final byte RELEASED = 2;

    /** The initiator: the files of these attachments are wanted; their handles. */
    static final byte WANTED = 3;

    // over the Unix socket; 0 is a wake-up
    /** The initiator comes to the meeting point: the secret, and the control segment. */
    static final byte HELLO = 11;

    /** The acceptor has mapped the control segment. */
    static final byte WELCOME = 12;

    /** The target: of each attachment that was wanted its handle, and 1 if its file is here, in the same order. */
    static final byte FILES = 13;

    /**
     * This side's endpoint has stopped, and accesses no memory any more; it keeps the socket open until the other side
     * stops too.
     */
    static final byte STOPPED = 14;

    /** How many files are wanted at once, so that a Unix socket is never full of them. */
    static final int MOST_FILES = 64;

    private ShmMessage() {}

    static byte[] of(byte type, long handle) {
        return ByteBuffer.allocate(1 + Long.BYTES).put(type).putLong(handle).array();
    }

    static ByteBuffer need(ByteBuffer message, int bytes) {
        if (message.remaining() < bytes) {
            throw new ProtocolException("a message of the shm endpoint is cut short");
        }
        return message;
    }
}
