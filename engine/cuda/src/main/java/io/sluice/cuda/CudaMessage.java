package io.sluice.cuda;

import io.sluice.engine.ProtocolException;
import java.nio.ByteBuffer;

/** The messages between two endpoints: over the control channel, or, with descriptors, over the Unix socket. */
final class CudaMessage {
    // over the control channel
    /** The target: an attachment has ended; its handle. */
    static final byte ENDED = 1;
    /** The initiator: nothing here uses an attachment any more, nor has it mapped; its handle. */
    static final byte RELEASED = 2;
    /** The initiator: the descriptor of an attachment's memory is wanted; its handle. */
    static final byte WANTED = 3;

    // over the Unix socket
    /** The initiator comes to the meeting point: the acceptor's secret. */
    static final byte HELLO = 11;
    /** The acceptor answers: the initiator's secret. */
    static final byte WELCOME = 12;
    /** The target: the handle of an attachment, and its memory's descriptor; without one it is gone. */
    static final byte MEMORY = 13;
    /** This side has mapped nothing any more and never will; it keeps the socket open until the other has said so too. */
    static final byte STOPPED = 14;
    /** Words of the other side's memory were changed. */
    static final byte CHANGED = 15;

    private CudaMessage() {}

    static byte[] of(byte type, long handle) {
        return ByteBuffer.allocate(1 + Long.BYTES).put(type).putLong(handle).array();
    }

    static ByteBuffer need(ByteBuffer message, int bytes) {
        if (message.remaining() < bytes) {
            throw new ProtocolException("a message of the cuda endpoint is cut short");
        }
        return message;
    }
}
