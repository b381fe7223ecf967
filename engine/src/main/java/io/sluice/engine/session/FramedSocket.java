package io.sluice.engine.session;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.EventLoop;
import io.sluice.jni.Errno;
import io.sluice.jni.Sockets;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A socket that carries bounded messages: magic (2 bytes), version (1), type (1), length (4), body; network byte order.
 * Confined to one event loop.
 */
final class FramedSocket {
    private static final Logger LOG = LoggerFactory.getLogger(FramedSocket.class);
    private static final short MAGIC = 0x534C;
    private static final byte VERSION = 1;
    private static final int HEADER = 8;
    private static final int INITIAL_BUFFER = 4096;
    private static final int SEND_BUFFER = 16 * 1024;
    // answers are as many as the peer likes, so a peer that does not take them must not fill this side's memory
    private static final int MAX_QUEUED_ANSWER_BYTES = 4 << 20;
    private static final int MESSAGE_OVERHEAD = 64;
    private static final int ENOUGH_QUEUED_BYTES = 1 << 20;
    private static final int MAX_READS_A_CYCLE = 64;

    private final EventLoop loop;
    private final int descriptor;
    private final EventLoop.Watch watch;
    private final Runnable flush = this::flush;
    private Handler handler;
    private int maxBody;
    private boolean exact;
    private boolean connecting;
    private boolean closed;
    private boolean flushScheduled;
    private ByteBuffer in = ByteBuffer.allocateDirect(INITIAL_BUFFER);
    private final ArrayDeque<byte[]> queued = new ArrayDeque<>();
    private long queuedBytes;
    private int sentOfFirst;
    private boolean full;
    private volatile long lastReceived = System.nanoTime();
    private @Nullable ByteBuffer out;

    /** Hears of messages and of the end. */
    interface Handler {
        /** The connect that was under way has succeeded. */
        default void connected() {}

        /** A whole message. The body is valid during the call. */
        void message(int type, ByteBuffer body);

        /** After {@link #hasRoom()} was false: what was queued has left. */
        default void drained() {}

        /** The socket is broken or at its end, and is closed. */
        void broken(String reason, @Nullable Throwable cause);
    }

    /**
     * Takes a socket over.
     *
     * @param connecting whether a connect is under way
     * @param exact whether to read no byte beyond the current message, so that the descriptor can be given on
     */
    FramedSocket(EventLoop loop, int descriptor, boolean connecting, boolean exact, int maxBody, Handler handler) {
        this.loop = loop;
        this.descriptor = descriptor;
        this.connecting = connecting;
        this.exact = exact;
        this.maxBody = maxBody;
        this.handler = handler;
        Sockets.setNoDelay(descriptor, true);
        this.watch = Watching.orClose(loop, descriptor, this::ready);
        if (connecting) {
            watch.interest(true, true);
        }
    }

    /** The next stage of the conversation takes over. */
    void handler(Handler next, int maxBodyBytes, boolean exactReads) {
        handler = next;
        maxBody = maxBodyBytes;
        exact = exactReads;
    }

    boolean isClosed() {
        return closed;
    }

    /** Where it leads to; null if that cannot be told. */
    @Nullable
    InetSocketAddress peerAddress() {
        return closed ? null : SocketAddresses.peer(descriptor);
    }

    /** Whether a part of a message has come, and its rest has not. */
    boolean isInsideMessage() {
        return in.position() > 0;
    }

    /** When the peer's last bytes came, as {@link System#nanoTime()}. Any thread. */
    long lastReceived() {
        return lastReceived;
    }

    /** Whether more should be sent now; if not, {@link Handler#drained()} follows. */
    boolean hasRoom() {
        full |= queuedBytes > ENOUGH_QUEUED_BYTES;
        return !full;
    }

    /** Sends what a peer has asked for. */
    void answer(int type, byte[] body) {
        if (queuedBytes + (long) queued.size() * MESSAGE_OVERHEAD > MAX_QUEUED_ANSWER_BYTES) {
            breakOff("the peer does not read its control channel", null);
            return;
        }
        send(type, body);
    }

    void send(int type, byte[] body) {
        if (closed) {
            return;
        }
        byte[] frame =
                frame(ByteBuffer.allocate(HEADER + body.length), type, body).array();
        queued.addLast(frame);
        queuedBytes += frame.length;
        if (!flushScheduled) {
            flushScheduled = true;
            loop.atEndOfCycle(flush);
        }
    }

    private static ByteBuffer frame(ByteBuffer to, int type, byte[] body) {
        return to.putShort(MAGIC)
                .put(VERSION)
                .put((byte) type)
                .putInt(body.length)
                .put(body);
    }

    /** Sends a message without a body on a socket that nobody else writes to and on which nothing is queued. */
    static boolean sendAlone(int descriptor, int type) {
        ByteBuffer frame = frame(ByteBuffer.allocateDirect(HEADER), type, new byte[0]);
        long address = MemorySegment.ofBuffer(frame.flip()).address();
        return Sockets.send(descriptor, address, HEADER) == HEADER;
    }

    /** Sends what the kernel takes at once, and closes. */
    void close() {
        if (!closed) {
            if (!connecting) {
                sendQueued();
            }
            discard();
        }
    }

    /** The peer has said goodbye and wants nothing more: what is queued is dropped, and no port stays taken for it. */
    void reset() {
        if (!closed) {
            Sockets.setResetOnClose(descriptor);
            discard();
        }
    }

    /** Gives the descriptor on; nothing is queued or half read. */
    int release() {
        if (closed || !queued.isEmpty() || in.position() != 0) {
            throw new IllegalStateException("the socket is in use");
        }
        closed = true;
        watch.cancel();
        return descriptor;
    }

    /** Sends what is queued now, not at the end of the cycle. */
    void flushNow() {
        if (!closed && !connecting && !sendQueued()) {
            watch.interest(true, true);
        }
    }

    private void discard() {
        closed = true;
        dropQueued();
        watch.cancel();
        Sockets.close(descriptor);
    }

    private void dropQueued() {
        queued.clear();
        queuedBytes = 0;
        sentOfFirst = 0;
    }

    private void breakOff(String reason, @Nullable Throwable cause) {
        if (!closed) {
            discard();
            handler.broken(reason, cause);
        }
    }

    private void ready(boolean readable, boolean writable) {
        if (connecting) {
            int result = Sockets.connectResult(descriptor);
            if (result < 0) {
                breakOff(Errno.message(-result), null);
                return;
            }
            if (!writable) {
                return;
            }
            connecting = false;
            watch.interest(true, false);
            handler.connected();
            return;
        }
        if (writable) {
            flush();
        }
        if (readable && !closed) {
            try {
                receive();
            } catch (ProtocolException e) {
                breakOff(String.valueOf(e.getMessage()), e);
            } catch (RuntimeException | Error e) {
                // the buffer may be half read, so nothing that follows could be understood
                LOG.error("an unexpected error in the conversation with a peer", e);
                breakOff("an unexpected error: " + e, e);
            }
        }
    }

    private void flush() {
        flushScheduled = false;
        if (closed || connecting) {
            return;
        }
        boolean drained = sendQueued();
        watch.interest(true, !drained);
        if (drained && full) {
            full = false;
            handler.drained();
        }
    }

    /** True if everything has left. */
    private boolean sendQueued() {
        while (!queued.isEmpty()) {
            ByteBuffer staging = out;
            if (staging == null) {
                staging = ByteBuffer.allocateDirect(SEND_BUFFER);
                out = staging;
            }
            staging.clear();
            int skip = sentOfFirst;
            for (byte[] frame : queued) {
                int part = Math.min(staging.remaining(), frame.length - skip);
                staging.put(frame, skip, part);
                skip = 0;
                if (!staging.hasRemaining()) {
                    break;
                }
            }
            long sent = Sockets.send(
                    descriptor, MemorySegment.ofBuffer(staging.flip()).address(), staging.limit());
            if (sent < 0) {
                if (sent == -Errno.EAGAIN) {
                    return false;
                }
                dropQueued();
                if (sent != -Errno.EPIPE && sent != -Errno.ECONNRESET) {
                    loop.execute(() -> breakOff(Errno.message((int) -sent), null));
                }
                // of a reset the reading side hears too, after what the peer said last
                return true;
            }
            queuedBytes -= sent;
            long rest = sent;
            while (rest > 0) {
                int remaining = queued.getFirst().length - sentOfFirst;
                if (rest < remaining) {
                    sentOfFirst += (int) rest;
                    break;
                }
                rest -= remaining;
                sentOfFirst = 0;
                queued.removeFirst();
            }
        }
        return true;
    }

    private void receive() {
        for (int i = 0; i < MAX_READS_A_CYCLE && !closed; i++) {
            int wanted = wanted();
            long received =
                    Sockets.receive(descriptor, MemorySegment.ofBuffer(in).address(), exact ? wanted : in.remaining());
            if (received == -Errno.EAGAIN) {
                return;
            }
            if (received <= 0) {
                breakOff(received == 0 ? "the peer closed the socket" : Errno.message((int) -received), null);
                return;
            }
            in.position(in.position() + (int) received);
            lastReceived = System.nanoTime();
            if (!takeMessages() && !exact && in.hasRemaining()) {
                return;
            }
        }
    }

    /** How many bytes the current message lacks; makes room for them. */
    private int wanted() {
        int have = in.position();
        if (have < HEADER) {
            return HEADER - have;
        }
        int total = HEADER + in.getInt(4);
        if (in.capacity() < total) {
            ByteBuffer larger = ByteBuffer.allocateDirect(Math.max(total, Math.min(in.capacity() * 2, maxBody)));
            in.flip();
            larger.put(in);
            in = larger;
        }
        return total - have;
    }

    /** Hands out the whole messages; true if there was one. */
    private boolean takeMessages() {
        in.flip();
        boolean some = false;
        while (!closed && in.remaining() >= HEADER) {
            int at = in.position();
            if (in.getShort(at) != MAGIC) {
                throw new ProtocolException("these bytes are not of this protocol");
            }
            if (in.get(at + 2) != VERSION) {
                throw new ProtocolException("the peer speaks version " + in.get(at + 2) + ", this is " + VERSION);
            }
            int type = Byte.toUnsignedInt(in.get(at + 3));
            int length = in.getInt(at + 4);
            if (length < 0 || length > maxBody) {
                throw new ProtocolException("a message of type " + type + " claims " + Integer.toUnsignedString(length)
                        + " bytes; at most " + maxBody + " are allowed");
            }
            if (in.remaining() < HEADER + length) {
                break;
            }
            ByteBuffer body = in.slice(at + HEADER, length);
            in.position(at + HEADER + length);
            some = true;
            if (exact) {
                // the handler may give the descriptor on, so nothing may be left in the buffer
                in.clear();
                handler.message(type, body);
                return true;
            }
            handler.message(type, body);
        }
        in.compact();
        return some;
    }
}
