package io.sluice.engine.transport.shm;

import io.sluice.engine.ProtocolException;
import io.sluice.jni.Errno;
import io.sluice.jni.LocalSockets;
import io.sluice.jni.Sockets;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/**
 * The Unix socket between two endpoints: carries descriptors and wake-ups. Its end means that the peer has stopped. On
 * the loop's thread.
 */
final class ShmPeerLink implements AutoCloseable {
    /** The longest message, in bytes. */
    static final int MOST_BYTES = 4096;

    // the socket becomes readable again for the rest
    private static final int MOST_AT_ONCE = 64;
    private static final byte WAKE = 0;
    private static final int DESCRIPTOR_BYTES = Integer.BYTES;

    private final int socket;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment message;
    private final MemorySegment descriptors;
    private final MemorySegment wake;
    private boolean closed;

    /** Takes ownership of a connected socket, and closes it if this throws. */
    ShmPeerLink(int socket) {
        this.socket = socket;
        try {
            message = arena.allocate(MOST_BYTES, Long.BYTES);
            descriptors = arena.allocate((long) LocalSockets.MAX_DESCRIPTORS * DESCRIPTOR_BYTES, Long.BYTES);
            wake = arena.allocate(1);
        } catch (RuntimeException | Error e) {
            arena.close();
            Sockets.close(socket);
            throw e;
        }
        wake.set(ValueLayout.JAVA_BYTE, 0, WAKE);
    }

    /** Receives messages. The listener closes the descriptors. */
    @FunctionalInterface
    interface Listener {
        /**
         * A message has arrived.
         *
         * @param bytes the message; valid during the call
         * @param received its descriptors
         */
        void message(ByteBuffer bytes, int[] received);
    }

    int descriptor() {
        return socket;
    }

    /**
     * The peer's process and user: low 32 bits the user, high 32 bits the process, 0 if it is in another pid namespace.
     */
    long peer() {
        long peer = LocalSockets.peer(socket);
        if (peer < 0) {
            throw new ProtocolException(
                    "cannot read the peer's process id from its Unix socket: " + Errno.message((int) -peer));
        }
        return peer;
    }

    /**
     * Sends a message with descriptors, which the caller keeps.
     *
     * @return false if the socket is full or closed, or its peer is gone, which the next read reports
     * @throws ProtocolException if the descriptors cannot be passed on
     */
    boolean send(ByteBuffer bytes, int... passed) {
        if (closed) {
            return false;
        }
        int length = bytes.remaining();
        message.asByteBuffer().put(bytes);
        for (int i = 0; i < passed.length; i++) {
            descriptors.setAtIndex(ValueLayout.JAVA_INT, i, passed[i]);
        }
        int sent = LocalSockets.send(socket, message.address(), length, descriptors.address(), passed.length);
        if (sent == -Errno.EAGAIN || sent == -Errno.EPIPE || sent == -Errno.ECONNRESET) {
            return false;
        }
        if (sent < 0) {
            throw new ProtocolException("descriptors cannot be passed to the peer: " + Errno.message(-sent)
                    + "; see the limit of open files (ulimit -n)");
        }
        return true;
    }

    /** Wakes the peer's loop. A full socket already has a reason for the peer to wake. */
    void wake() {
        if (!closed) {
            LocalSockets.send(socket, wake.address(), 1, 0, 0);
        }
    }

    /**
     * Delivers the messages that have arrived.
     *
     * @return false if the peer has closed its end
     * @throws ProtocolException if one is malformed
     */
    boolean receive(Listener listener) {
        for (int count = 0; count < MOST_AT_ONCE && !closed; count++) {
            long received = LocalSockets.receive(
                    socket, message.address(), MOST_BYTES, descriptors.address(), LocalSockets.MAX_DESCRIPTORS);
            if (received == -Errno.EAGAIN) {
                return true;
            }
            if (received == 0 || received == -Errno.ECONNRESET) {
                return false;
            }
            if (received < 0) {
                throw new ProtocolException("cannot receive the peer's message: " + Errno.message((int) -received));
            }
            int length = (int) received;
            int[] passed = new int[(int) (received >>> 32)];
            for (int i = 0; i < passed.length; i++) {
                passed[i] = descriptors.getAtIndex(ValueLayout.JAVA_INT, i);
            }
            if (length > 1 || passed.length > 0 || message.get(ValueLayout.JAVA_BYTE, 0) != WAKE) {
                byte[] copy = new byte[length];
                MemorySegment.copy(message, ValueLayout.JAVA_BYTE, 0, copy, 0, length);
                listener.message(ByteBuffer.wrap(copy), passed);
            }
        }
        return true;
    }

    static void closeAll(int[] received) {
        for (int each : received) {
            Sockets.close(each);
        }
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            Sockets.close(socket);
            arena.close();
        }
    }
}
