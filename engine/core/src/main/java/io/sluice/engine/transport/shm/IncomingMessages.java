package io.sluice.engine.transport.shm;

import io.sluice.engine.ProtocolException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The consumer end of a ring: reassembles messages. On the loop's thread. */
final class IncomingMessages {
    private final ControlSegment.Direction direction;
    private final int mostBytes;
    private final Consumer<byte[]> listener;
    private final byte[] length = new byte[OutgoingMessages.LENGTH_BYTES];
    private int lengthReceived;
    private byte @Nullable [] message;
    private int bytesReceived;
    private long consumed;

    /**
     * Creates the consumer of a ring.
     *
     * @param direction the ring's direction
     * @param mostBytes the longest valid message
     * @param listener called with each message
     */
    IncomingMessages(ControlSegment.Direction direction, int mostBytes, Consumer<byte[]> listener) {
        this.direction = direction;
        this.mostBytes = mostBytes;
        this.listener = listener;
    }

    boolean hasSome() {
        return direction.produced() != consumed;
    }

    /**
     * Consumes the bytes in the ring.
     *
     * @return true if there were any
     * @throws ProtocolException if the peer has corrupted the ring
     */
    boolean take() {
        long produced = direction.produced();
        long available = produced - consumed;
        if (available == 0) {
            return false;
        }
        if (available < 0 || available > ControlSegment.RING_BYTES) {
            throw new ProtocolException("the peer has corrupted its position in the ring");
        }
        while (consumed < produced) {
            step((int) (produced - consumed));
        }
        direction.consumed(consumed);
        return true;
    }

    private void step(int available) {
        byte[] current = message;
        if (current == null) {
            lengthReceived += get(length, lengthReceived, available);
            if (lengthReceived == length.length) {
                current = begin();
            }
        } else {
            bytesReceived += get(current, bytesReceived, available);
        }
        if (current != null && bytesReceived == current.length) {
            message = null;
            lengthReceived = 0;
            bytesReceived = 0;
            listener.accept(current);
        }
    }

    private byte[] begin() {
        int bytes = 0;
        for (int i = 0; i < length.length; i++) {
            bytes |= (length[i] & 0xff) << (8 * i);
        }
        if (bytes < 0 || bytes > mostBytes) {
            throw new ProtocolException("the peer sent a message of " + Integer.toUnsignedString(bytes) + " bytes");
        }
        byte[] fresh = new byte[bytes];
        message = fresh;
        return fresh;
    }

    private int get(byte[] bytes, int from, int available) {
        int count = Math.min(bytes.length - from, available);
        int at = (int) (consumed % ControlSegment.RING_BYTES);
        int first = Math.min(count, ControlSegment.RING_BYTES - at);
        MemorySegment ring = direction.ring();
        MemorySegment.copy(ring, ValueLayout.JAVA_BYTE, at, bytes, from, first);
        MemorySegment.copy(ring, ValueLayout.JAVA_BYTE, 0, bytes, from + first, count - first);
        consumed += count;
        return count;
    }
}
