package io.sluice.engine.security;

import io.sluice.engine.transport.SecureStream;
import io.sluice.jni.Errno;
import io.sluice.jni.Sockets;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * TLS over a socket that does not block. First {@link #handshake()} is called until it is done; what takes long in it is for
 * another thread ({@link #work()}), and so is the making of the {@link SSLEngine}, for which files may have to be read.
 */
public final class TlsStream implements SecureStream {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);
    private static final int HEADER = 5;
    private static final int LENGTH_AT = 3;
    private static final int FIRST_TYPE = 20;
    private static final int LAST_TYPE = 23;
    private static final int FAREWELL_STEPS = 4;
    // in one call: a peer that sends more of them wants this side's time
    private static final int MAX_EMPTY_RECORDS = 64;

    private final int descriptor;
    private final Supplier<SSLEngine> maker;
    private @Nullable SSLEngine engine;
    private @Nullable Exception error;
    // both are kept ready to be taken from; the last record's worth of the second is for what the protocol itself has
    // to say
    private ByteBuffer received;
    private ByteBuffer unsent;
    private ByteBuffer plain;
    // until the peer is proven; the first holds received and plain bytes
    private @Nullable HandshakeBuffers lender;
    private @Nullable ByteBuffer firstLent;
    private @Nullable ByteBuffer secondLent;
    private boolean begun;
    private boolean answered;
    private boolean ended;

    /** The condition for a handshake to go on. */
    public enum Handshake {
        DONE,
        /** The descriptor becomes readable. */
        INPUT,
        /** The descriptor becomes writable. */
        ROOM,
        /** {@link #work()} is called on a thread that may block, and then {@link #handshake()} again. */
        WORK
    }

    /**
     * Neither reads nor writes yet.
     *
     * @param descriptor of a connected socket
     * @param maker makes the engine, its settings and role included, on a thread that may block
     * @param lender of the memory until {@link #keepBuffers()}; null for memory of its own
     */
    public TlsStream(int descriptor, Supplier<SSLEngine> maker, @Nullable HandshakeBuffers lender) {
        this.descriptor = descriptor;
        this.maker = maker;
        if (lender == null) {
            received = ByteBuffer.allocateDirect(RECORD_BYTES).flip();
            unsent = ByteBuffer.allocateDirect(2 * RECORD_BYTES).flip();
            plain = ByteBuffer.allocate(RECORD_BYTES).flip();
            return;
        }
        ByteBuffer first = lender.take();
        ByteBuffer second;
        try {
            second = lender.take();
        } catch (OutOfMemoryError e) {
            lender.give(first);
            throw e;
        }
        this.lender = lender;
        firstLent = first;
        secondLent = second;
        received = first.slice(0, RECORD_BYTES).limit(0);
        plain = first.slice(RECORD_BYTES, RECORD_BYTES).limit(0);
        unsent = second.limit(0);
    }

    /**
     * Whether these can be the first bytes of a TLS handshake.
     *
     * @param firstByte of a stream
     * @return true for the type of a handshake record
     */
    public static boolean isHandshake(byte firstByte) {
        return firstByte == 22;
    }

    /**
     * Feeds bytes that other code has read off the socket, before the handshake.
     *
     * @param bytes a few
     */
    public void feed(ByteBuffer bytes) {
        received.compact().put(bytes).flip();
    }

    /** Takes larger buffers, for many bytes at a time, and of its own. */
    public void widen() {
        own(8, 9);
    }

    /** The peer is proven: takes buffers of its own, if they were borrowed. */
    public void keepBuffers() {
        if (lender != null) {
            own(1, 2);
        }
    }

    private void own(int recordsReceived, int recordsUnsent) {
        ByteBuffer nextReceived = ByteBuffer.allocateDirect(recordsReceived * RECORD_BYTES);
        ByteBuffer nextUnsent = ByteBuffer.allocateDirect(recordsUnsent * RECORD_BYTES);
        received = nextReceived.put(received).flip();
        unsent = nextUnsent.put(unsent).flip();
        plain = ByteBuffer.allocate(RECORD_BYTES).put(plain).flip();
        giveBuffersBack();
    }

    /** Returns the borrowed buffers, if any; a stream that did not keep their bytes must not be used afterwards. */
    public void giveBuffersBack() {
        HandshakeBuffers to = lender;
        ByteBuffer first = firstLent;
        ByteBuffer second = secondLent;
        if (to != null && first != null && second != null) {
            lender = null;
            firstLent = null;
            secondLent = null;
            to.give(first);
            to.give(second);
        }
    }

    // ---- handshake ----

    /**
     * Continues the handshake.
     *
     * @return what it needs
     * @throws SSLException if the two sides do not agree, or do not trust each other
     * @throws IOException if the socket is broken
     */
    public Handshake handshake() throws IOException {
        Exception failed = error;
        if (failed != null) {
            throw new SSLException("this side cannot continue: " + failed.getMessage(), failed);
        }
        SSLEngine tls = engine;
        if (tls == null) {
            return Handshake.WORK;
        }
        while (true) {
            long sent = flush();
            if (sent == -Errno.EAGAIN) {
                return Handshake.ROOM;
            }
            if (sent < 0) {
                throw new IOException(Errno.message((int) -sent));
            }
            switch (tls.getHandshakeStatus()) {
                case NEED_TASK -> {
                    return Handshake.WORK;
                }
                case NEED_WRAP -> wrapOwn(tls);
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                    if (!unwrapHandshake(tls)) {
                        return Handshake.INPUT;
                    }
                }
                case FINISHED, NOT_HANDSHAKING -> {
                    return Handshake.DONE;
                }
            }
        }
    }

    private boolean unwrapHandshake(SSLEngine tls) throws IOException {
        while (true) {
            if (received.hasRemaining()) {
                expectRecord();
                plain.clear();
                SSLEngineResult result;
                try {
                    result = tls.unwrap(received, plain);
                } finally {
                    plain.flip();
                }
                switch (result.getStatus()) {
                    case OK -> {
                        return true;
                    }
                    case CLOSED -> throw new SSLException("the peer has ended the TLS handshake");
                    case BUFFER_OVERFLOW -> throw new SSLException("a TLS record is longer than it may be");
                    case BUFFER_UNDERFLOW -> {}
                }
            }
            long count = fill();
            if (count == -Errno.EAGAIN) {
                return false;
            }
            if (count <= 0) {
                throw new IOException(
                        count == 0
                                ? "the peer closed the socket in the TLS handshake, without a reason: it may have been slow to"
                                        + " answer, or be closing; see its log and its count of refused handshakes"
                                : "in the TLS handshake: " + Errno.message((int) -count));
            }
        }
    }

    /**
     * Input that is no TLS at all gets an error of its own, as it mostly comes from a peer with other settings, and so
     * does a peer that wants none now.
     */
    private void expectRecord() throws IOException {
        if (begun) {
            return;
        }
        int type = received.get(received.position());
        if (type < FIRST_TYPE || type > LAST_TYPE) {
            throw new NotTlsException();
        }
        if (RefusedBeforeTlsException.isSign(received)) {
            throw new RefusedBeforeTlsException();
        }
        // it may come in pieces
        begun = !RefusedBeforeTlsException.isAlert(type);
    }

    /** The part of the handshake that may take long. */
    public void work() {
        SSLEngine tls = engine;
        if (tls == null) {
            try {
                tls = maker.get();
                tls.beginHandshake();
                engine = tls;
            } catch (SSLException | RuntimeException e) {
                error = e;
            }
            return;
        }
        try {
            runTasks(tls);
        } catch (RuntimeException e) {
            error = e;
        }
    }

    private static void runTasks(SSLEngine tls) {
        Runnable task;
        while ((task = tls.getDelegatedTask()) != null) {
            task.run();
        }
    }

    /** After a handshake that failed: lets the peer know why, as far as that is possible at once. */
    public void sayWhy() {
        SSLEngine tls = engine;
        if (tls == null) {
            return;
        }
        // the alert, and the bytes queued before it
        for (int i = 0; i < FAREWELL_STEPS && tls.getHandshakeStatus() == HandshakeStatus.NEED_WRAP; i++) {
            try {
                wrapOwn(tls);
            } catch (IOException e) {
                // it tells once more why it failed, and has the alert ready all the same
            }
        }
        flush();
        // closing with bytes unread would make the kernel reset the connection, perhaps before the peer has read the
        // alert
        for (int i = 0; i < FAREWELL_STEPS; i++) {
            received.clear().flip();
            if (fill() <= 0) {
                return;
            }
        }
    }

    /**
     * Whether this side has said something.
     *
     * @return true if the next record must be of this session
     */
    public boolean hasAnswered() {
        return answered;
    }

    /** Tells the peer that nothing more comes, as far as that is possible at once. */
    public void close() {
        SSLEngine tls = engine;
        if (tls != null && !tls.isOutboundDone()) {
            tls.closeOutbound();
            try {
                wrapOwn(tls);
            } catch (IOException e) {
                // the socket is closed anyway
            }
            flush();
        }
    }

    /**
     * The peer as the handshake has shown it.
     *
     * @return after the handshake
     * @throws SSLException if the peer has shown no certificate, or the platform's TLS does not know it
     */
    public TlsPeer peer() throws SSLException {
        SSLEngine tls = engine;
        if (tls == null) {
            throw new IllegalStateException("before the handshake");
        }
        return TlsPeer.of(tls.getSession());
    }

    // ---- data ----

    @Override
    public long receive(ByteBuffer target) throws IOException {
        SSLEngine tls = running();
        if (plain.hasRemaining()) {
            return takePlain(target);
        }
        boolean direct = target.remaining() >= RECORD_BYTES;
        int start = target.position();
        int empty = 0;
        while (!ended) {
            if (received.hasRemaining()) {
                SSLEngineResult result = direct ? unwrap(tls, target) : unwrapPlain(tls);
                if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
                    ended = true;
                    break;
                }
                if (result.getStatus() != SSLEngineResult.Status.BUFFER_UNDERFLOW) {
                    if (plain.hasRemaining()) {
                        return takePlain(target);
                    }
                    if (direct && target.remaining() < RECORD_BYTES) {
                        break;
                    }
                    if (result.bytesConsumed() > 0) {
                        if (result.bytesProduced() == 0 && ++empty > MAX_EMPTY_RECORDS) {
                            throw new SSLException("the peer sends empty TLS records");
                        }
                        continue;
                    }
                }
            }
            if (target.position() > start) {
                break;
            }
            long count = fill();
            if (count <= 0) {
                return count;
            }
        }
        return (long) target.position() - start;
    }

    private SSLEngineResult unwrapPlain(SSLEngine tls) throws IOException {
        plain.clear();
        try {
            return unwrap(tls, plain);
        } finally {
            plain.flip();
        }
    }

    private SSLEngineResult unwrap(SSLEngine tls, ByteBuffer to) throws IOException {
        SSLEngineResult result = tls.unwrap(received, to);
        // tickets and key updates: a few microseconds of computing, nothing that waits
        if (result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
            runTasks(tls);
        }
        if (result.getStatus() != SSLEngineResult.Status.CLOSED
                && tls.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
            wrapOwn(tls);
        }
        if (result.getStatus() == SSLEngineResult.Status.BUFFER_OVERFLOW) {
            throw new SSLException("a TLS record is longer than it may be");
        }
        return result;
    }

    private long takePlain(ByteBuffer target) {
        int count = Math.min(target.remaining(), plain.remaining());
        target.put(target.position(), plain, plain.position(), count);
        target.position(target.position() + count);
        plain.position(plain.position() + count);
        return count;
    }

    @Override
    public boolean hasReceived() {
        if (plain.hasRemaining()) {
            return true;
        }
        int at = received.position();
        return !ended
                && received.remaining() >= HEADER
                && received.remaining() >= HEADER + Short.toUnsignedInt(received.getShort(at + LENGTH_AT));
    }

    @Override
    public long send(ByteBuffer source) throws IOException {
        SSLEngine tls = running();
        long flushed = flush();
        if (flushed < 0) {
            return flushed;
        }
        int start = source.position();
        unsent.clear();
        try {
            while (source.hasRemaining() && unsent.remaining() >= 2 * RECORD_BYTES) {
                SSLEngineResult result = tls.wrap(source, unsent);
                if (result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
                    runTasks(tls);
                }
                if (result.getStatus() != SSLEngineResult.Status.OK) {
                    throw new SSLException("the TLS session has ended");
                }
            }
        } finally {
            unsent.flip();
        }
        flushed = flush();
        return flushed < 0 && flushed != -Errno.EAGAIN ? flushed : (long) source.position() - start;
    }

    @Override
    public boolean hasUnsent() {
        return unsent.hasRemaining();
    }

    @Override
    public long flush() {
        while (unsent.hasRemaining()) {
            long sent = Sockets.send(descriptor, MemorySegment.ofBuffer(unsent).address(), unsent.remaining());
            if (sent < 0) {
                return sent;
            }
            unsent.position(unsent.position() + (int) sent);
        }
        return 0;
    }

    /** Appends a record of the protocol's own to the unsent bytes. */
    private void wrapOwn(SSLEngine tls) throws IOException {
        unsent.compact();
        try {
            answered = true;
            if (unsent.remaining() < RECORD_BYTES) {
                throw new SSLException("the peer requests TLS key updates without reading the answers");
            }
            tls.wrap(NOTHING, unsent);
        } finally {
            unsent.flip();
        }
    }

    /** Appends to the received bytes; as {@link Sockets#receive}. */
    private long fill() {
        received.compact();
        try {
            long count =
                    Sockets.receive(descriptor, MemorySegment.ofBuffer(received).address(), received.remaining());
            if (count > 0) {
                received.position(received.position() + (int) count);
            }
            return count;
        } finally {
            received.flip();
        }
    }

    private SSLEngine running() {
        SSLEngine tls = engine;
        if (tls == null) {
            throw new IllegalStateException("before the handshake");
        }
        return tls;
    }
}
