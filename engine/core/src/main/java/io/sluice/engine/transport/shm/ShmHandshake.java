package io.sluice.engine.transport.shm;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.transport.EndpointContext;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.SecretSource;
import io.sluice.jni.Errno;
import io.sluice.jni.LocalSockets;
import io.sluice.jni.Sockets;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The handshake of two endpoints over a Unix socket, in which they share the control segment. The acceptor listens at a
 * meeting point, the initiator sends the segment, and the acceptor writes a word into it to show that both have mapped
 * the same memory. That proves that they run on one host. On the loop's thread.
 */
final class ShmHandshake implements AutoCloseable {
    private final EndpointContext context;
    private final Host host;
    private final @Nullable String directory;
    private final End end;
    private final SecretSource secrets;
    private final byte[] secret;
    private final List<EventLoop.Watch> listening = new ArrayList<>();
    private @Nullable Rendezvous meetingPoint;
    private @Nullable ShmOffer peer;
    private @Nullable ShmPeerLink link;
    private EventLoop.@Nullable Watch watch;
    private @Nullable ControlSegment segment;
    private boolean met;
    private boolean closed;

    /** Receives the outcome of the handshake. */
    interface End {
        /** Both sides share the segment; the handshake closes the link. */
        void met(ShmPeerLink link, ControlSegment segment, ShmOffer peer);

        /** A later message has arrived over the link; the caller closes the descriptors. */
        void message(ByteBuffer message, int[] descriptors);

        void failed(SluiceException error);

        /** The peer has closed its end of the link. */
        void peerStopped();
    }

    ShmHandshake(EndpointContext context, Host host, @Nullable String directory, SecretSource secrets, End end) {
        this.context = context;
        this.host = host;
        this.directory = directory;
        this.end = end;
        this.secrets = secrets;
        this.secret = secrets.draw();
    }

    ShmOffer offer(long probeAddress, byte[] probe) {
        String name = "";
        if (!context.initiator()) {
            Rendezvous opened = Rendezvous.open(directory, secrets.draw());
            meetingPoint = opened;
            name = opened.name();
        }
        return new ShmOffer(host.text(), name, secret, probeAddress, probe);
    }

    void begin(ShmOffer peerOffer) {
        peer = peerOffer;
        if (context.initiator()) {
            come(peerOffer);
        } else {
            await();
        }
    }

    // ---- the initiator ----

    private void come(ShmOffer acceptor) {
        if (acceptor.meetingPoint().isEmpty()) {
            throw new ProtocolException("the peer's shm offer does not name a meeting point");
        }
        Host other = Host.read(acceptor.host());
        boolean sameNetwork = other != null && host.sharesNetwork(other);
        ShmPeerLink made = watched(Rendezvous.connect(acceptor.meetingPoint(), sameNetwork, directory));
        if (!isOwnUser(made.peer())) {
            throw new TransportUnavailableException("the peer's process belongs to another user (" + (int) made.peer()
                    + "), and only processes of one user share memory");
        }
        ControlSegment.Made control = ControlSegment.make();
        segment = control.segment();
        try {
            ByteBuffer hello = ByteBuffer.allocate(1 + ShmOffer.SECRET_BYTES)
                    .put(ShmMessage.HELLO)
                    .put(acceptor.secret())
                    .flip();
            if (!made.send(hello, control.descriptor())) {
                throw new TransportUnavailableException("the peer does not read its Unix socket");
            }
        } finally {
            Sockets.close(control.descriptor());
        }
    }

    private void welcomed(ControlSegment shared) {
        if (shared.answered() != word(secret)) {
            throw new TransportUnavailableException("the peer has mapped other memory than this engine");
        }
        meet(shared);
    }

    // ---- the acceptor ----

    private void await() {
        Rendezvous point = meetingPoint;
        if (point != null) {
            for (int descriptor : point.descriptors()) {
                listening.add(
                        context.loop().watch(descriptor, (readable, writable) -> safely(() -> accept(descriptor))));
            }
        }
    }

    private void accept(int listener) {
        int socket = LocalSockets.accept(listener);
        if (socket == -Errno.EAGAIN || socket == -Errno.ECONNABORTED) {
            return;
        }
        if (socket < 0) {
            throw new TransportUnavailableException("cannot accept the peer: " + Errno.message(-socket));
        }
        if (link != null || !isOwnUser(LocalSockets.peer(socket))) {
            // another process came first, perhaps a stranger that only knows the socket's name and must not block a
            // peer
            Sockets.close(socket);
            return;
        }
        watched(socket);
    }

    private void helloed(ByteBuffer message, int[] descriptors) {
        byte[] told = new byte[ShmOffer.SECRET_BYTES];
        ShmMessage.need(message, told.length).get(told);
        if (!MessageDigest.isEqual(told, secret) || descriptors.length != 1) {
            throw new ProtocolException("the process that connected to the meeting point does not know its secret");
        }
        ControlSegment shared = ControlSegment.of(descriptors[0]);
        segment = shared;
        ShmOffer initiator = peer;
        ShmPeerLink current = link;
        if (initiator == null || current == null) {
            throw new IllegalStateException("the handshake has not begun");
        }
        shared.answer(word(initiator.secret()));
        if (!current.send(ByteBuffer.wrap(new byte[] {ShmMessage.WELCOME, 0}))) {
            throw new TransportUnavailableException("the peer does not read its Unix socket");
        }
        meet(shared);
    }

    // ---- both ----

    private ShmPeerLink watched(int socket) {
        ShmPeerLink made = new ShmPeerLink(socket);
        link = made;
        watch = context.loop().watch(socket, (readable, writable) -> safely(() -> receive(made)));
        return made;
    }

    /** Processes of the same user are one trust domain. */
    private static boolean isOwnUser(long peer) {
        return peer >= 0 && (int) peer == LocalSockets.userId();
    }

    private void receive(ShmPeerLink from) {
        if (!from.receive(this::message) && !closed) {
            if (met) {
                end.peerStopped();
            } else {
                throw new TransportUnavailableException("the peer closed its Unix socket during the handshake");
            }
        }
    }

    private void message(ByteBuffer message, int[] descriptors) {
        try {
            ControlSegment shared = segment;
            if (met) {
                end.message(message, descriptors);
            } else if (context.initiator() && shared != null && type(message) == ShmMessage.WELCOME) {
                welcomed(shared);
            } else if (!context.initiator() && type(message) == ShmMessage.HELLO) {
                helloed(message, descriptors);
            } else {
                throw new ProtocolException("the peer sent an unexpected message over its Unix socket");
            }
        } finally {
            ShmPeerLink.closeAll(descriptors);
        }
    }

    private static byte type(ByteBuffer message) {
        return ShmMessage.need(message, 1).get();
    }

    private void meet(ControlSegment shared) {
        met = true;
        stopListening();
        ShmPeerLink current = link;
        ShmOffer other = peer;
        if (current != null && other != null) {
            end.met(current, shared, other);
        }
    }

    private void safely(Runnable step) {
        try {
            if (!closed) {
                step.run();
            }
        } catch (SluiceException e) {
            end.failed(e);
        } catch (OutOfMemoryError e) {
            end.failed(new TransportUnavailableException("this side is short of memory: " + e.getMessage(), e));
        }
    }

    private static long word(byte[] secret) {
        return ByteBuffer.wrap(secret).getLong();
    }

    private void stopListening() {
        listening.forEach(EventLoop.Watch::cancel);
        listening.clear();
        Rendezvous point = meetingPoint;
        if (point != null) {
            meetingPoint = null;
            point.close();
        }
    }

    /** Returns everything except the segment once that was handed over. */
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
        ShmPeerLink open = link;
        if (open != null) {
            open.close();
        }
        ControlSegment unused = segment;
        if (unused != null && !met) {
            unused.close();
        }
    }
}
