package io.sluice.engine.control;

import io.sluice.engine.security.HandshakeBuffers;
import io.sluice.jni.Errno;
import java.nio.ByteBuffer;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** The sending side of a {@link FramedSocket}: queued frames and the send buffer. Confined to one event loop. */
final class OutgoingFrames {
    private static final int SEND_BUFFER = 16 * 1024;
    // a peer can cause any number of answers, so one that does not read them must not fill this side's memory
    private static final int MAX_QUEUED_ANSWER_BYTES = 4 << 20;
    private static final int ENOUGH_QUEUED_BYTES = 1 << 20;

    private final SocketStream stream;
    private final ReceiveBuffer in;
    private final BiConsumer<String, @Nullable Throwable> failed;
    private final FrameQueue queued = new FrameQueue();
    private boolean full;
    private @Nullable ByteBuffer out;

    /**
     * Creates an empty queue.
     *
     * @param stream the socket's bytes
     * @param in the receive buffer, whose lender also lends the send buffer until the peer has authenticated
     * @param failed schedules the end of the socket, with a reason and its cause
     */
    OutgoingFrames(SocketStream stream, ReceiveBuffer in, BiConsumer<String, @Nullable Throwable> failed) {
        this.stream = stream;
        this.in = in;
        this.failed = failed;
    }

    void add(byte[] frame) {
        queued.add(frame);
    }

    boolean isEmpty() {
        return queued.isEmpty();
    }

    void clear() {
        queued.clear();
    }

    /** Whether more should be added now; once false, it stays so until {@link #wasFull}. */
    boolean hasRoom() {
        full |= queued.bytes() > ENOUGH_QUEUED_BYTES;
        return !full;
    }

    /** Returns whether {@link #hasRoom} was false, and forgets it. */
    boolean wasFull() {
        boolean was = full;
        full = false;
        return was;
    }

    /** Whether the peer has caused more answers than it reads. */
    boolean exceedsAnswerLimit() {
        return queued.memory() > MAX_QUEUED_ANSWER_BYTES;
    }

    /** Sends what the kernel takes; returns true if everything has left, or never will. */
    boolean send() {
        while (!queued.isEmpty()) {
            long sent;
            try {
                sent = sendSome();
            } catch (OutOfMemoryError e) {
                // the peer would wait for the unsent bytes
                queued.clear();
                failed.accept(SocketStream.shortOfMemory(e), e);
                return true;
            }
            if (sent < 0) {
                if (sent == -Errno.EAGAIN) {
                    return false;
                }
                queued.clear();
                // the receiving side reports a reset, after the peer's last messages
                if (sent != -Errno.EPIPE && sent != -Errno.ECONNRESET) {
                    failed.accept(Errno.message((int) -sent), null);
                }
                return true;
            }
            queued.sent(sent);
        }
        return stream.flush();
    }

    private long sendSome() {
        HandshakeBuffers from = in.lender();
        if (from != null) {
            ByteBuffer borrowed = from.take();
            try {
                queued.copyTo(borrowed);
                return stream.send(borrowed.flip());
            } finally {
                from.give(borrowed);
            }
        }
        ByteBuffer staging = out;
        if (staging == null) {
            staging = ByteBuffer.allocateDirect(SEND_BUFFER);
            out = staging;
        }
        queued.copyTo(staging.clear());
        return stream.send(staging.flip());
    }
}
