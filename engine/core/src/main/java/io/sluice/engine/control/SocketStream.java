package io.sluice.engine.control;

import io.sluice.engine.security.HandshakeBuffers;
import io.sluice.engine.security.TlsPeer;
import io.sluice.engine.security.TlsStream;
import io.sluice.engine.transport.EventLoop;
import io.sluice.jni.Errno;
import io.sluice.jni.Sockets;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The bytes of a socket: plain, or in TLS after a handshake. Confined to one event loop. */
final class SocketStream {
    private static final Logger LOG = LoggerFactory.getLogger(SocketStream.class);

    private final EventLoop loop;
    private final int descriptor;
    private final EventLoop.Watch watch;
    private final Owner owner;
    private @Nullable TlsStream tls;
    private @Nullable TlsPeer security;
    private boolean handshaking;
    private boolean working;
    private boolean closed;

    /** The owner of the stream's bytes. */
    interface Owner {
        /** The handshake is done; the first bytes may have come with it. */
        void secured();

        /** The handshake has failed. */
        void insecure(String reason, @Nullable Throwable cause);
    }

    SocketStream(EventLoop loop, int descriptor, EventLoop.Watch watch, Owner owner) {
        this.loop = loop;
        this.descriptor = descriptor;
        this.watch = watch;
        this.owner = owner;
    }

    // ---- TLS ----

    /**
     * Begins a handshake.
     *
     * @param engine makes this side's engine, off the loop
     * @param lender of its buffers; null for buffers of its own
     * @param received its bytes that have arrived already; taken
     */
    void begin(Supplier<SSLEngine> engine, @Nullable HandshakeBuffers lender, @Nullable ByteBuffer received) {
        TlsStream stream = new TlsStream(descriptor, engine, lender);
        if (received != null) {
            stream.feed(received.flip());
            received.clear();
        }
        tls = stream;
        handshaking = true;
        handshake();
    }

    /** Continues a stream whose handshake is done. */
    void resume(TlsStream stream, @Nullable TlsPeer peer) {
        tls = stream;
        security = peer;
    }

    /** Continues the handshake until it has to wait for something. */
    void handshake() {
        TlsStream stream = tls;
        if (closed || stream == null) {
            return;
        }
        try {
            switch (stream.handshake()) {
                case INPUT -> watch.interest(true, false);
                case ROOM -> watch.interest(true, true);
                case WORK -> {
                    // certificates are checked and files read there, and meanwhile there is nothing to do here
                    working = true;
                    watch.interest(false, false);
                    Thread.ofVirtual().name("sluice-tls").start(() -> {
                        stream.work();
                        loop.execute(this::worked);
                    });
                }
                case DONE -> {
                    security = stream.peer();
                    handshaking = false;
                    watch.interest(true, false);
                    owner.secured();
                }
            }
        } catch (SSLException e) {
            stream.sayWhy();
            owner.insecure("the TLS handshake failed: " + e.getMessage(), e);
        } catch (IOException e) {
            owner.insecure(String.valueOf(e.getMessage()), e);
        } catch (RuntimeException e) {
            // of a key or trust manager, which the platform passes on as it is
            owner.insecure("the TLS handshake failed: " + e, new SSLException(e));
        } catch (OutOfMemoryError e) {
            owner.insecure(shortOfMemory(e), e);
        }
    }

    private void worked() {
        working = false;
        handshake();
    }

    /** Whether nothing but the handshake may use the socket. */
    boolean isHandshaking() {
        return handshaking;
    }

    /** Whether the handshake goes on elsewhere, and the socket is watched for nothing but its end. */
    boolean isWorking() {
        return working;
    }

    /** The peer as TLS has shown it; null on a plain socket. */
    @Nullable
    TlsPeer security() {
        return security;
    }

    /** The encrypted stream, from the beginning of its handshake on; null on a plain socket. */
    @Nullable
    TlsStream tls() {
        return tls;
    }

    static String shortOfMemory(OutOfMemoryError e) {
        return "this side is short of memory: " + e.getMessage();
    }

    // ---- bytes ----

    /** Sends from a direct buffer; how many bytes were taken, or a negative errno. */
    long send(ByteBuffer staging) {
        TlsStream stream = tls;
        if (stream == null) {
            return Sockets.send(descriptor, MemorySegment.ofBuffer(staging).address(), staging.limit());
        }
        try {
            return stream.send(staging);
        } catch (IOException e) {
            LOG.debug("TLS with {} is broken", SocketAddresses.peer(descriptor), e);
            return -Errno.EPIPE;
        }
    }

    /** Sends what TLS holds back; true if all has left. */
    boolean flush() {
        TlsStream stream = tls;
        return stream == null || stream.flush() != -Errno.EAGAIN;
    }

    /** Receives at the position of a direct buffer, which it leaves there; how many bytes, or a negative errno. */
    long receive(ByteBuffer to, int most) throws IOException {
        TlsStream stream = tls;
        if (stream == null) {
            return Sockets.receive(descriptor, MemorySegment.ofBuffer(to).address(), most);
        }
        int at = to.position();
        to.limit(at + most);
        try {
            return stream.receive(to);
        } finally {
            to.clear().position(at);
        }
    }

    /** Whether the stream holds received bytes that the descriptor's readiness does not cover. */
    boolean hasReceived() {
        TlsStream stream = tls;
        return stream != null && stream.hasReceived();
    }

    /** Says on a socket in TLS that nothing more follows. */
    void end() {
        TlsStream stream = tls;
        if (stream != null) {
            stream.close();
        }
    }

    /** The stream has given up its descriptor, closed or handed over. */
    void left() {
        closed = true;
    }
}
