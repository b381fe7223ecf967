package io.sluice.engine.transport.shm;

import io.sluice.engine.ProtocolException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayDeque;

/**
 * The producer end of a ring: a stream of messages, each its length and its bytes. Queues what does not fit into the
 * ring. On the loop's thread.
 */
final class OutgoingMessages {
    static final int LENGTH_BYTES = Integer.BYTES;
    private static final int MOST_WAITING = 64;

    private final ControlSegment.Direction direction;
    private final ArrayDeque<byte[]> waiting = new ArrayDeque<>();
    private final byte[] length = new byte[LENGTH_BYTES];
    private int lengthSent;
    private int bytesSent;
    private long produced;
    private long consumed;

    OutgoingMessages(ControlSegment.Direction direction) {
        this.direction = direction;
    }

    boolean hasRoom() {
        return waiting.size() < MOST_WAITING;
    }

    boolean isWaiting() {
        return !waiting.isEmpty();
    }

    void add(byte[] message) {
        waiting.addLast(message);
    }

    /** Whether the ring has room for more bytes. */
    boolean canGoOn() {
        return isWaiting() && room() > 0;
    }

    /**
     * Moves as many bytes into the ring as fit.
     *
     * @return true if there were any
     * @throws ProtocolException if the peer has corrupted its position in the ring
     */
    boolean goOn() {
        long before = produced;
        byte[] message;
        while ((message = waiting.peekFirst()) != null && put(message)) {
            waiting.removeFirst();
            lengthSent = 0;
            bytesSent = 0;
        }
        if (produced == before) {
            return false;
        }
        direction.produced(produced);
        return true;
    }

    /** Returns false if a part did not fit. */
    private boolean put(byte[] message) {
        if (lengthSent == 0) {
            for (int i = 0; i < LENGTH_BYTES; i++) {
                length[i] = (byte) (message.length >>> (8 * i));
            }
        }
        lengthSent += put(length, lengthSent);
        if (lengthSent < LENGTH_BYTES) {
            return false;
        }
        bytesSent += put(message, bytesSent);
        return bytesSent == message.length;
    }

    private int put(byte[] bytes, int from) {
        int count = Math.min(bytes.length - from, room());
        int at = (int) (produced % ControlSegment.RING_BYTES);
        int first = Math.min(count, ControlSegment.RING_BYTES - at);
        MemorySegment ring = direction.ring();
        MemorySegment.copy(bytes, from, ring, ValueLayout.JAVA_BYTE, at, first);
        MemorySegment.copy(bytes, from + first, ring, ValueLayout.JAVA_BYTE, 0, count - first);
        produced += count;
        return count;
    }

    private int room() {
        long now = direction.consumed();
        if (now < consumed || now > produced) {
            throw new ProtocolException("the peer has corrupted its position in the ring");
        }
        consumed = now;
        return (int) (ControlSegment.RING_BYTES - (produced - consumed));
    }
}
