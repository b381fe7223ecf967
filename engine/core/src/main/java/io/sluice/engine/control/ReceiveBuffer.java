package io.sluice.engine.control;

import io.sluice.engine.security.HandshakeBuffers;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * The receive buffer of a socket's messages. Its memory is allocated at the first bytes, and borrowed until the peer
 * has authenticated. Confined to one event loop.
 */
final class ReceiveBuffer {
    private static final int INITIAL_BYTES = 4096;

    private @Nullable ByteBuffer in;
    // the owner of the buffer; null for its own
    private @Nullable HandshakeBuffers lender;
    private boolean proven;

    ReceiveBuffer(@Nullable HandshakeBuffers lender) {
        this.lender = lender;
    }

    /** The received bytes that have not been handed out, up to the buffer's position. */
    ByteBuffer get() {
        ByteBuffer current = in;
        if (current == null) {
            HandshakeBuffers from = lender;
            current = from == null ? ByteBuffer.allocateDirect(INITIAL_BYTES) : from.take();
            in = current;
        }
        return current;
    }

    /** The lender of the memory; null once the socket has its own. */
    @Nullable
    HandshakeBuffers lender() {
        return lender;
    }

    /** Whether a part of a message has come, and its rest has not. */
    boolean isInsideMessage() {
        ByteBuffer current = in;
        return current != null && current.position() > 0;
    }

    /** The peer has authenticated: from now on the socket receives into memory of its own. */
    void proven() {
        proven = true;
    }

    /** Returns a borrowed buffer once nothing is in it, so that one who only waits has none. */
    void giveBack(boolean closed) {
        HandshakeBuffers to = lender;
        ByteBuffer current = in;
        if (to == null) {
            return;
        }
        if (current != null && (closed || current.position() == 0)) {
            in = null;
            to.give(current);
        }
        if (proven && in == null) {
            lender = null;
        }
    }

    /**
     * How many bytes the current message lacks; makes room for them.
     *
     * @param maxBody the longest body that may come
     */
    int lacking(int maxBody) {
        ByteBuffer current = get();
        int have = current.position();
        if (have < Frame.HEADER) {
            return Frame.HEADER - have;
        }
        int total = Frame.HEADER + current.getInt(4);
        if (current.capacity() < total) {
            ByteBuffer larger = ByteBuffer.allocateDirect(Math.max(total, Math.min(current.capacity() * 2, maxBody)));
            in = larger.put(current.flip());
            HandshakeBuffers from = lender;
            if (from != null) {
                // only one that is proven may send so much
                lender = null;
                from.give(current);
            }
        }
        return total - have;
    }
}
