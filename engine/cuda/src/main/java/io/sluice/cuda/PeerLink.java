package io.sluice.cuda;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.SecretSource;
import io.sluice.jni.Errno;
import io.sluice.jni.LocalSockets;
import io.sluice.jni.Sockets;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Unix socket between two endpoints: it carries descriptors, and its end tells that the peer has left. A process that is killed may
 * close it before its GPUs' work has ended, so that the end of the process is waited for. The acceptor waits at a socket of a random
 * name, which only the authenticated bootstrap tells; both sides must be of one user, and prove that they know the other's secret. On
 * the loop's thread.
 */
final class PeerLink implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(PeerLink.class);
    private static final int NONE = -1;
    private static final int MOST_BYTES = 256;
    // what is left makes the socket readable again
    private static final int MOST_AT_ONCE = 64;
    private static final int MOST_DESCRIPTORS = 1;
    // the driver ends the work of a process within seconds
    private static final long LONGEST_END_NANOS = 10_000_000_000L;

    private final EndpointContext context;
    private final Owner owner;
    private final SecretSource secrets;
    private final byte[] secret;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment message = arena.allocate(MOST_BYTES, Long.BYTES);
    private final MemorySegment descriptors = arena.allocate(Integer.BYTES, Long.BYTES);
    private int listener = NONE;
    private int socket = NONE;
    // the peer's; there is none on old kernels
    private int process = NONE;
    private EventLoop.@Nullable Watch listening;
    private EventLoop.@Nullable Watch watch;
    private EventLoop.@Nullable Watch ending;
    private final LastWait lastWait = new LastWait();
    private byte[] peerSecret = {};
    private boolean met;
    private boolean full;
    private boolean closed;

    /** Whose it is. */
    interface Owner {
        /** Each side knows that the other is the one of the bootstrap. */
        void met();

        /** A message has come after that; the descriptor, or −1 if there is none, is the owner's. */
        void message(byte type, ByteBuffer message, int descriptor);

        /** The socket has room again: messages that waited may be sent. */
        void roomAgain();

        /** The two sides do not meet, or what has come is damaged. */
        void failed(SluiceException error);

        /**
         * The peer's end is closed; {@link #peerGone} follows.
         *
         * @return whether the peer may still reach memory, so that the end of its process is to be waited for
         */
        boolean hungUp();

        /** The peer's end is closed, and its process has ended if that was waited for. */
        void peerGone();
    }

    /** The peer's process goes on without its socket, or the driver cannot end its work. */
    private final class LastWait extends Deadline {
        @Override
        protected void expired() {
            LOG.warn(
                    "the peer has left its Unix socket {} s ago, but its process goes on: memory that its GPUs may reach is"
                            + " given back",
                    LONGEST_END_NANOS / 1_000_000_000);
            safely(PeerLink.this::ended);
        }
    }

    PeerLink(EndpointContext context, SecretSource secrets, Owner owner) {
        this.context = context;
        this.owner = owner;
        this.secrets = secrets;
        this.secret = secrets.draw();
    }

    CudaOffer offer() {
        String name = "";
        if (!context.initiator()) {
            name = CudaOffer.meetingPoint(secrets.draw());
            int opened = LocalSockets.listen(address(name));
            if (opened < 0) {
                throw new TransportUnavailableException(
                        "no Unix socket to meet the peer at: " + Errno.message(-opened));
            }
            listener = opened;
        }
        return new CudaOffer(name, secret);
    }

    private static byte[] address(String name) {
        return ("\0" + name).getBytes(StandardCharsets.US_ASCII);
    }

    void begin(CudaOffer peer) {
        peerSecret = peer.secret();
        if (!context.initiator()) {
            listening = context.loop().watch(listener, (readable, writable) -> safely(this::accept));
            return;
        }
        int connected = LocalSockets.connect(address(peer.meetingPoint()));
        if (connected < 0) {
            throw new TransportUnavailableException(
                    "the peer claims to run on this host, but does not answer here: " + Errno.message(-connected));
        }
        socket = connected;
        if (!isOwnUser(connected)) {
            throw new TransportUnavailableException(
                    "the peer's process belongs to another user, and processes share memory"
                            + " of GPUs with those of their own user only");
        }
        watch(connected);
        process = LocalSockets.peerProcess(connected);
        sendSecret(CudaMessage.HELLO);
    }

    private void accept() {
        int accepted = LocalSockets.accept(listener);
        if (accepted == -Errno.EAGAIN || accepted == -Errno.ECONNABORTED) {
            return;
        }
        if (accepted < 0) {
            throw new TransportUnavailableException("cannot accept the peer: " + Errno.message(-accepted));
        }
        if (socket != NONE || !isOwnUser(accepted)) {
            // another came first; or a stranger, who keeps the peer from nothing
            Sockets.close(accepted);
            return;
        }
        socket = accepted;
        process = LocalSockets.peerProcess(accepted);
        watch(accepted);
    }

    private void watch(int connected) {
        EventLoop.Watch made = context.loop()
                .watch(
                        connected,
                        (readable, writable) -> safely(() -> {
                            if (writable) {
                                writable();
                            }
                            receive();
                        }));
        watch = made;
    }

    private void writable() {
        EventLoop.Watch current = watch;
        if (full && current != null) {
            full = false;
            current.interest(true, false);
            owner.roomAgain();
        }
    }

    /** A stranger has come to the acceptor, who goes on waiting for the peer. */
    private void dropStranger() {
        EventLoop.Watch current = watch;
        if (current != null) {
            watch = null;
            current.cancel();
        }
        Sockets.close(socket);
        socket = NONE;
        closeProcess();
    }

    private void closeProcess() {
        EventLoop.Watch current = ending;
        if (current != null) {
            ending = null;
            current.cancel();
            context.loop().disarm(lastWait);
        }
        if (process >= 0) {
            Sockets.close(process);
            process = NONE;
        }
    }

    /** Processes of one user are one trust domain, and no others. */
    private static boolean isOwnUser(int connected) {
        long peer = LocalSockets.peer(connected);
        return peer >= 0 && (int) peer == LocalSockets.userId();
    }

    private void sendSecret(byte type) {
        ByteBuffer proof = ByteBuffer.allocate(1 + SecretSource.BYTES)
                .put(type)
                .put(peerSecret)
                .flip();
        if (!send(proof)) {
            throw new TransportUnavailableException("the peer's Unix socket takes nothing");
        }
    }

    private void receive() {
        for (int count = 0; count < MOST_AT_ONCE && !closed && socket != NONE; count++) {
            long received = LocalSockets.receive(
                    socket, message.address(), MOST_BYTES, descriptors.address(), MOST_DESCRIPTORS);
            if (received == -Errno.EAGAIN) {
                return;
            }
            if (received == -Errno.ECONNRESET) {
                // told once, before what the peer had sent: it has left without having received all
                continue;
            }
            if (received == 0) {
                gone();
                return;
            }
            if (received < 0 && !met && !context.initiator()) {
                dropStranger();
                return;
            }
            if (received < 0) {
                throw new ProtocolException("a message of the peer is damaged: " + Errno.message((int) -received));
            }
            byte[] copy = new byte[(int) received];
            MemorySegment.copy(message, ValueLayout.JAVA_BYTE, 0, copy, 0, copy.length);
            int descriptor = received >>> 32 == 0 ? NONE : descriptors.get(ValueLayout.JAVA_INT, 0);
            handle(ByteBuffer.wrap(copy), descriptor);
        }
    }

    private void gone() {
        if (!met && !context.initiator()) {
            dropStranger();
            return;
        }
        EventLoop.Watch current = watch;
        if (current != null) {
            watch = null;
            current.cancel();
        }
        if (!met) {
            throw new TransportUnavailableException("the peer has left the Unix socket");
        }
        if (!owner.hungUp() || process < 0) {
            ended();
            return;
        }
        EventLoop.Watch made = context.loop().watch(process, (readable, writable) -> safely(this::ended));
        ending = made;
        context.loop().arm(lastWait, context.loop().now() + LONGEST_END_NANOS);
    }

    private void ended() {
        closeProcess();
        owner.peerGone();
    }

    private void handle(ByteBuffer bytes, int descriptor) {
        byte type = CudaMessage.need(bytes, 1).get();
        if (met) {
            owner.message(type, bytes, descriptor);
            return;
        }
        if (descriptor != NONE) {
            Sockets.close(descriptor);
        }
        byte expected = context.initiator() ? CudaMessage.WELCOME : CudaMessage.HELLO;
        byte[] told = new byte[SecretSource.BYTES];
        if (bytes.remaining() >= told.length) {
            bytes.get(told);
        }
        if (type != expected || !MessageDigest.isEqual(told, secret)) {
            if (context.initiator()) {
                throw new ProtocolException("a stranger answers at the peer's meeting point");
            }
            dropStranger();
            return;
        }
        met = true;
        if (!context.initiator()) {
            sendSecret(CudaMessage.WELCOME);
            stopListening();
        }
        owner.met();
    }

    /**
     * Sends a message, perhaps with a descriptor, which stays the caller's.
     *
     * @return false if the socket is full, which {@link Owner#roomAgain} follows; or closed, or its peer gone, which reading tells
     * @throws ProtocolException if the descriptor cannot be passed on
     */
    boolean send(ByteBuffer bytes, int... passed) {
        if (closed || socket == NONE) {
            return false;
        }
        int length = bytes.remaining();
        message.asByteBuffer().put(bytes);
        if (passed.length > 0) {
            descriptors.set(ValueLayout.JAVA_INT, 0, passed[0]);
        }
        return give(length, passed.length);
    }

    /** Sends a message of its type alone, as {@link #send} does; allocates nothing. */
    boolean tell(byte type) {
        if (closed || socket == NONE) {
            return false;
        }
        message.set(ValueLayout.JAVA_BYTE, 0, type);
        return give(1, 0);
    }

    private boolean give(int length, int passed) {
        int sent = LocalSockets.send(socket, message.address(), length, descriptors.address(), passed);
        if (sent == -Errno.EAGAIN) {
            EventLoop.Watch current = watch;
            if (current != null) {
                full = true;
                current.interest(true, true);
            }
            return false;
        }
        if (sent == -Errno.EPIPE || sent == -Errno.ECONNRESET) {
            return false;
        }
        if (sent < 0) {
            throw new ProtocolException("a descriptor cannot be passed to the peer: " + Errno.message(-sent)
                    + "; see the limit of open files (ulimit -n)");
        }
        return true;
    }

    private void safely(Runnable step) {
        try {
            if (!closed) {
                step.run();
            }
        } catch (SluiceException e) {
            owner.failed(e);
        }
    }

    private void stopListening() {
        EventLoop.Watch current = listening;
        if (current != null) {
            listening = null;
            current.cancel();
        }
        if (listener != NONE) {
            Sockets.close(listener);
            listener = NONE;
        }
    }

    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        stopListening();
        EventLoop.Watch current = watch;
        if (current != null) {
            current.cancel();
        }
        closeProcess();
        if (socket != NONE) {
            Sockets.close(socket);
        }
        arena.close();
    }
}
