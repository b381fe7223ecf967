package io.sluice.engine.control;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.security.HandshakeBuffers;
import io.sluice.engine.security.RefusedBeforeTlsException;
import io.sluice.engine.security.TlsPeer;
import io.sluice.engine.security.TlsStream;
import io.sluice.engine.transport.EventLoop;
import io.sluice.jni.Errno;
import io.sluice.jni.Sockets;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A socket that carries bounded messages, each a {@link Frame}. Confined to one event loop.
 */
public final class FramedSocket implements SocketStream.Owner {
    private static final Logger LOG = LoggerFactory.getLogger(FramedSocket.class);
    private static final int HEADER = Frame.HEADER;
    private static final int MAX_READS_A_CYCLE = 64;
    // the most bytes that a peer may request in one cycle, so that other connections of the loop get their turn
    private static final int BYTES_A_CYCLE = 128 << 10;
    // small ones cost more than their bytes: a look-up has a MAC made, and asks the user
    public static final int MESSAGES_A_CYCLE = 128;

    private final EventLoop loop;
    private final int descriptor;
    private final EventLoop.Watch watch;
    private final Runnable flush = this::flush;
    private Handler handler;
    private int maxBody;
    private boolean exact;
    private boolean connecting;
    // until the first byte has shown whether the peer begins TLS
    private boolean sniffing;
    private boolean closed;
    private boolean flushScheduled;
    private final ReceiveBuffer in;
    private boolean receiving;
    private final CycleBudget bytes;
    private final CycleBudget messages;
    // whether no more may be handed out in this cycle; the next one goes on, also if the descriptor is not ready
    private boolean held;
    private long sharedAt;
    private boolean owesTurn;
    private final Runnable takeTurn = this::takeTurn;
    private volatile long lastReceived = System.nanoTime();
    private final @Nullable Supplier<SSLEngine> connectingTls;
    private final SocketStream stream;
    private final OutgoingFrames outgoing;

    /** Receives messages and the end of the stream. */
    public interface Handler {
        /** Called when the connect has succeeded, and TLS is set up if requested. */
        default void connected() {}

        /**
         * Called when the peer of an accepted socket begins TLS.
         *
         * @return the maker of this side's TLS engine; or null, if the handler has closed the socket
         */
        default @Nullable Supplier<SSLEngine> tls() {
            throw new IllegalStateException("only an accepted socket is answered");
        }

        /** Called with a whole message. The body is valid during the call. */
        void message(int type, ByteBuffer body);

        /**
         * Continues the work that the last message has requested, if that is more than one cycle's. Called at least
         * once a cycle.
         *
         * @return true once it is done; until then no further message is delivered
         */
        default boolean goOn() {
            return true;
        }

        /** Called after {@link #hasRoom()} was false and all queued messages have left. */
        default void drained() {}

        /** Called when the socket is broken or at its end, and is closed. */
        void broken(String reason, @Nullable Throwable cause);
    }

    /**
     * Takes a socket over: it is closed if this fails.
     *
     * @param connecting whether a connect is under way
     * @param exact whether to read no byte beyond the current message, so that the descriptor can be given on
     */
    public FramedSocket(
            EventLoop loop, int descriptor, boolean connecting, boolean exact, int maxBody, Handler handler) {
        this(loop, descriptor, connecting, exact, maxBody, handler, null, null);
    }

    /** An accepted socket, which borrows its memory until it is {@linkplain #proven() proven}. */
    public static FramedSocket accepted(
            EventLoop loop, int descriptor, int maxBody, Handler handler, HandshakeBuffers buffers) {
        // exact: if it is a lane, the bytes after its first message belong to the transport
        return new FramedSocket(loop, descriptor, false, true, maxBody, handler, null, buffers);
    }

    /**
     * Takes over a socket that another loop has {@linkplain #release() released}. The handler is replaced before anything is read.
     *
     * @param tls its encrypted stream, with memory of its own; null on a plain socket
     * @param security what TLS has shown of the peer
     */
    public static FramedSocket moved(
            EventLoop loop, int descriptor, Handler handler, @Nullable TlsStream tls, @Nullable TlsPeer security) {
        FramedSocket socket = new FramedSocket(loop, descriptor, false, true, 0, handler);
        socket.sniffing = false;
        if (tls != null) {
            socket.stream.resume(tls, security);
        }
        return socket;
    }

    /**
     * As the other one, for a socket that begins TLS once it is connected.
     *
     * @param connectingTls makes this side's engine, off the loop; null for none
     */
    public FramedSocket(
            EventLoop loop,
            int descriptor,
            boolean connecting,
            boolean exact,
            int maxBody,
            Handler handler,
            @Nullable Supplier<SSLEngine> connectingTls) {
        this(loop, descriptor, connecting, exact, maxBody, handler, connectingTls, null);
    }

    private FramedSocket(
            EventLoop loop,
            int descriptor,
            boolean connecting,
            boolean exact,
            int maxBody,
            Handler handler,
            @Nullable Supplier<SSLEngine> connectingTls,
            @Nullable HandshakeBuffers lender) {
        this.in = new ReceiveBuffer(lender);
        this.connectingTls = connectingTls;
        this.sniffing = !connecting;
        this.loop = loop;
        this.bytes = new CycleBudget(loop, BYTES_A_CYCLE);
        this.messages = new CycleBudget(loop, MESSAGES_A_CYCLE);
        this.descriptor = descriptor;
        this.connecting = connecting;
        this.exact = exact;
        this.maxBody = maxBody;
        this.handler = handler;
        Sockets.setNoDelay(descriptor, true);
        this.watch = SocketWatch.orClose(loop, descriptor, this::ready);
        try {
            this.stream = new SocketStream(loop, descriptor, watch, this);
            this.outgoing =
                    new OutgoingFrames(stream, in, (reason, cause) -> loop.execute(() -> breakOff(reason, cause)));
            if (connecting) {
                watch.interest(true, true);
            }
        } catch (RuntimeException | Error e) {
            watch.cancel();
            Sockets.close(descriptor);
            throw e;
        }
    }

    /** The next stage of the conversation takes over. */
    public void handler(Handler next, int maxBodyBytes, boolean exactReads) {
        handler = next;
        maxBody = maxBodyBytes;
        exact = exactReads;
    }

    public boolean isClosed() {
        return closed;
    }

    /** The encrypted stream, from the end of its handshake on; null on a plain socket. */
    public @Nullable TlsStream stream() {
        return stream.isHandshaking() ? null : stream.tls();
    }

    /** The remote address; null if it is unknown. */
    public @Nullable InetSocketAddress peerAddress() {
        return closed ? null : SocketAddresses.peer(descriptor);
    }

    /** Whether a part of a message has come, and its rest has not. */
    public boolean isInsideMessage() {
        return in.isInsideMessage();
    }

    /** The peer may connect: from here on the socket has memory of its own. */
    public void proven() {
        TlsStream tls = stream.tls();
        if (tls != null) {
            tls.keepBuffers();
        }
        in.proven();
    }

    private void giveBack() {
        if (!receiving) {
            in.giveBack(closed);
        }
    }

    /** When the peer's last bytes came, as {@link System#nanoTime()}. Any thread. */
    public long lastReceived() {
        return lastReceived;
    }

    /** Whether more should be sent now; if not, {@link Handler#drained()} follows. */
    public boolean hasRoom() {
        return outgoing.hasRoom();
    }

    /** Sends what a peer has asked for. */
    public void answer(int type, byte[] body) {
        if (outgoing.exceedsAnswerLimit()) {
            breakOff("the peer does not read its control channel", null);
            return;
        }
        send(type, body);
    }

    public void send(int type, byte[] body) {
        if (closed) {
            return;
        }
        outgoing.add(Frame.of(type, body));
        if (!flushScheduled) {
            flushScheduled = true;
            loop.atEndOfCycle(flush);
        }
    }

    /** Sends what the kernel takes at once, and closes. */
    public void close() {
        if (closed) {
            return;
        }
        try {
            if (!connecting && !stream.isHandshaking()) {
                outgoing.send();
                stream.end();
            }
        } catch (RuntimeException | Error e) {
            LOG.debug("cannot send the last messages to {} before closing", SocketAddresses.peer(descriptor), e);
        } finally {
            // the descriptor must not outlive it, also where a step fails
            discard();
        }
    }

    /**
     * Tells a peer that begins TLS that it will not get it, unless this side has already sent something. {@link #close}
     * follows, so received bytes no longer matter.
     */
    public void refuseTls() {
        TlsStream tls = stream.tls();
        if (closed || connecting || (tls != null && tls.hasAnswered())) {
            return;
        }
        try {
            Frame.sendLast(descriptor, RefusedBeforeTlsException.sign(), in.get());
        } catch (OutOfMemoryError e) {
            LOG.debug("out of memory: a peer is refused without the TLS alert that says so", e);
        }
        giveBack();
    }

    /** The peer has closed the connection and needs nothing more: drops the queue, and keeps no port in use. */
    public void reset() {
        if (!closed) {
            Sockets.setResetOnClose(descriptor);
            discard();
        }
    }

    /** Gives the descriptor on; nothing is queued or half read. */
    public int release() {
        if (closed || !outgoing.isEmpty() || isInsideMessage()) {
            throw new IllegalStateException("the socket is in use");
        }
        closed = true;
        stream.left();
        watch.cancel();
        return descriptor;
    }

    /** Sends the queued messages now, not at the end of the cycle. */
    public void flushNow() {
        if (!closed && !connecting && !stream.isHandshaking() && !outgoing.send()) {
            watch.interest(true, true);
        }
    }

    private void discard() {
        closed = true;
        stream.left();
        outgoing.clear();
        watch.cancel();
        Sockets.close(descriptor);
        TlsStream tls = stream.tls();
        if (tls != null) {
            tls.giveBuffersBack();
        }
        giveBack();
    }

    /**
     * Ends the conversation with an error that its handler gets, unless it has ended.
     *
     * @param reason in words
     * @param cause of it
     */
    public void fail(String reason, Throwable cause) {
        breakOff(reason, cause);
    }

    private void breakOff(String reason, @Nullable Throwable cause) {
        if (!closed) {
            discard();
            handler.broken(reason, cause);
        }
    }

    private void ready(boolean readable, boolean writable) {
        try {
            proceed(readable, writable);
        } catch (OutOfMemoryError e) {
            // the stage that lacked it would be waited for in vain
            breakOff(SocketStream.shortOfMemory(e), e);
        }
    }

    private void proceed(boolean readable, boolean writable) {
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
            if (connectingTls == null) {
                handler.connected();
            } else {
                stream.begin(connectingTls, null, null);
            }
            return;
        }
        if (stream.isWorking()) {
            // nothing else is watched for meanwhile
            breakOff("the peer closed the socket in the TLS handshake", null);
            return;
        }
        if (stream.isHandshaking()) {
            stream.handshake();
            return;
        }
        if (writable) {
            flush();
        }
        if (readable) {
            tryReceive();
        }
    }

    private void tryReceive() {
        if (!closed) {
            receiving = true;
            try {
                receive();
            } catch (SSLException e) {
                breakOff("TLS: " + e.getMessage(), e);
            } catch (IOException e) {
                breakOff(String.valueOf(e.getMessage()), e);
            } catch (ProtocolException e) {
                breakOff(String.valueOf(e.getMessage()), e);
            } catch (OutOfMemoryError e) {
                breakOff(SocketStream.shortOfMemory(e), e);
            } catch (RuntimeException | Error e) {
                // the buffer may be half read, so nothing that follows could be understood
                LOG.error("unexpected error while handling messages of {}", peerAddress(), e);
                breakOff("an unexpected error: " + e, e);
            } finally {
                receiving = false;
                giveBack();
            }
        }
    }

    // ---- TLS ----

    private void beginTls() {
        Supplier<SSLEngine> maker = handler.tls();
        if (maker != null) {
            stream.begin(maker, in.lender(), in.get());
        }
    }

    @Override
    public void secured() {
        handler.connected();
        // bytes that followed the handshake are in the stream's buffer
        tryReceive();
    }

    @Override
    public void insecure(String reason, @Nullable Throwable cause) {
        breakOff(reason, cause);
    }

    /** The peer as TLS has shown it; null on a plain socket. */
    public @Nullable TlsPeer security() {
        return stream.security();
    }

    private void flush() {
        flushScheduled = false;
        if (closed || connecting || stream.isHandshaking()) {
            return;
        }
        boolean drained = outgoing.send();
        watch.interest(true, !drained);
        if (drained && outgoing.wasFull()) {
            handler.drained();
        }
    }

    private void takeTurn() {
        if (owesTurn) {
            owesTurn = false;
            tryReceive();
        }
    }

    private void oweTurn() {
        if (!owesTurn && !closed) {
            owesTurn = true;
            loop.execute(takeTurn);
        }
    }

    private void receive() throws IOException {
        boolean leftSome = held;
        if (leftSome) {
            share();
        }
        held = !mayHandOut();
        if (leftSome) {
            // bytes that it sends meanwhile are not read
            lastReceived = System.nanoTime();
        }
        if (leftSome && !held) {
            takeMessages(in.get());
        }
        for (int i = 0; i < MAX_READS_A_CYCLE && bytes.left() > 0 && !held && !closed; i++) {
            int wanted = in.lacking(maxBody);
            ByteBuffer into = in.get();
            int most = exact ? wanted : (int) Math.min(into.remaining(), Math.max(wanted, bytes.left()));
            long received = stream.receive(into, most);
            if (received == -Errno.EAGAIN) {
                return;
            }
            if (received <= 0) {
                breakOff(received == 0 ? "the peer closed the socket" : Errno.message((int) -received), null);
                return;
            }
            share();
            bytes.spend(received);
            into.position(into.position() + (int) received);
            lastReceived = System.nanoTime();
            if (sniffing) {
                sniffing = false;
                if (TlsStream.isHandshake(into.get(0))) {
                    beginTls();
                    return;
                }
            }
            if (!takeMessages(into) && !exact && into.hasRemaining() && stream.tls() == null) {
                break;
            }
        }
        // the descriptor's readiness does not cover bytes that the buffer or the stream already holds
        if (!closed && (held || stream.hasReceived())) {
            oweTurn();
        }
    }

    private void share() {
        if (sharedAt != loop.now()) {
            sharedAt = loop.now();
            loop.countSharer();
        }
    }

    /** Whether this cycle may hand out one more message. */
    private boolean mayHandOut() {
        return messages.left() > 0 && handler.goOn();
    }

    /** Hands out the whole messages; true if there was one. */
    private boolean takeMessages(ByteBuffer from) {
        from.flip();
        boolean some = false;
        while (!closed && !held && from.remaining() >= HEADER) {
            int at = from.position();
            int length = Frame.checkedLength(from, at, maxBody);
            int type = Frame.type(from, at);
            if (from.remaining() < HEADER + length) {
                break;
            }
            ByteBuffer body = from.slice(at + HEADER, length);
            from.position(at + HEADER + length);
            some = true;
            messages.spend(1);
            if (exact) {
                // the handler may give the descriptor on, so nothing may be left in the buffer
                from.clear();
                handler.message(type, body);
                return true;
            }
            handler.message(type, body);
            held = !closed && !mayHandOut();
        }
        from.compact();
        return some;
    }
}
