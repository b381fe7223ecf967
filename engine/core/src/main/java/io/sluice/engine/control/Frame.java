package io.sluice.engine.control;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.security.HandshakeBuffers;
import io.sluice.engine.transport.SecureStream;
import io.sluice.jni.Sockets;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The form of a message on a socket: magic (2 bytes), version (1), type (1), length (4), body; network byte order. */
public final class Frame {
    public static final short MAGIC = 0x534C;
    public static final byte VERSION = 1;
    public static final int HEADER = 8;

    private static final Logger LOG = LoggerFactory.getLogger(Frame.class);
    private static final int MOST_UNREAD_READS = 4;

    private Frame() {}

    public static byte[] of(int type, byte[] body) {
        return put(ByteBuffer.allocate(HEADER + body.length), type, body).array();
    }

    /**
     * Returns the length of the body of a frame, after checking the header.
     *
     * @param from a buffer with the header
     * @param at the position of the header
     * @throws ProtocolException if it is not a frame, or its body is too long
     */
    static int checkedLength(ByteBuffer from, int at, int maxBody) {
        if (from.getShort(at) != MAGIC) {
            throw new ProtocolException("these bytes do not belong to this protocol");
        }
        if (from.get(at + 2) != VERSION) {
            throw new ProtocolException("the peer speaks version " + from.get(at + 2) + ", this is " + VERSION);
        }
        int length = from.getInt(at + 4);
        if (length < 0 || length > maxBody) {
            throw new ProtocolException("a message of type " + type(from, at) + " claims "
                    + Integer.toUnsignedString(length) + " bytes; at most " + maxBody + " are allowed");
        }
        return length;
    }

    /** The type of a frame, as a {@link MessageType}. */
    static int type(ByteBuffer from, int at) {
        return Byte.toUnsignedInt(from.get(at + 3));
    }

    private static ByteBuffer put(ByteBuffer to, int type, byte[] body) {
        return to.putShort(MAGIC)
                .put(VERSION)
                .put((byte) type)
                .putInt(body.length)
                .put(body);
    }

    /** Sends a message without a body on a socket that no other code writes to and on which nothing is queued. */
    public static boolean sendAlone(int descriptor, @Nullable SecureStream stream, int type) {
        ByteBuffer frame =
                put(ByteBuffer.allocateDirect(HEADER), type, new byte[0]).flip();
        if (stream == null) {
            long sent = Sockets.send(descriptor, MemorySegment.ofBuffer(frame).address(), HEADER);
            // the address alone does not keep the memory
            Reference.reachabilityFence(frame);
            return sent == HEADER;
        }
        try {
            return stream.send(frame) == HEADER;
        } catch (IOException e) {
            LOG.debug("a lane of {} broke before it was accepted", SocketAddresses.peer(descriptor), e);
            return false;
        }
    }

    /** Sends a few last bytes on a socket that is closed next, as far as that is possible at once. */
    public static void sendLast(int descriptor, byte[] bytes, HandshakeBuffers buffers) {
        ByteBuffer scratch = buffers.take();
        try {
            sendLast(descriptor, bytes, scratch);
        } finally {
            buffers.give(scratch);
        }
    }

    static void sendLast(int descriptor, byte[] bytes, ByteBuffer scratch) {
        long address = MemorySegment.ofBuffer(scratch.clear().put(bytes).flip()).address();
        Sockets.send(descriptor, address, bytes.length);
        // closing with bytes unread would make the kernel reset the connection, perhaps before the peer has read it
        for (int i = 0; i < MOST_UNREAD_READS; i++) {
            if (Sockets.receive(descriptor, address, scratch.capacity()) <= 0) {
                break;
            }
        }
        scratch.clear();
    }
}
