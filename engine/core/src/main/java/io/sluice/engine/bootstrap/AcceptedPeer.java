package io.sluice.engine.bootstrap;

import io.sluice.engine.SluiceException;
import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.control.MessageType;
import io.sluice.engine.control.PendingSocket;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.providers.OpenTransport;
import io.sluice.engine.security.TlsPeer;
import io.sluice.engine.security.TlsStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.event.Level;

/**
 * A peer that has authenticated: the accepting side's last step, on the poller of the connection. That is the poller of
 * the bootstrap, unless the peer asks for a group on another.
 */
final class AcceptedPeer implements PendingSocket, FramedSocket.Handler {
    private final BootstrapContext engine;
    private final Poller home;
    private final PeerTerms terms;
    private final List<OpenTransport> paths;
    private final List<byte[]> offers;

    AcceptedPeer(
            BootstrapContext engine, Poller home, PeerTerms terms, List<OpenTransport> paths, List<byte[]> offers) {
        this.engine = engine;
        this.home = home;
        this.terms = terms;
        this.paths = paths;
        this.offers = offers;
    }

    /**
     * Continues on the connection's poller with a socket that another poller has released.
     *
     * @param stream its TLS stream, with its own memory; null for none
     * @param security the peer as TLS has shown it
     */
    void bringHome(int descriptor, @Nullable TlsStream stream, @Nullable TlsPeer security) {
        // from here on a closing engine waits for this, and not for the bootstrap
        engine.unfinished().begun(this);
        home.execute(() -> {
            try {
                takeMoved(descriptor, stream, security);
            } finally {
                engine.unfinished().finished(this);
            }
        });
    }

    private void takeMoved(int descriptor, @Nullable TlsStream stream, @Nullable TlsPeer security) {
        FramedSocket socket;
        try {
            socket = FramedSocket.moved(home, descriptor, this, stream, security);
        } catch (SluiceException | OutOfMemoryError e) {
            // it has been closed
            noteRefusal(Level.WARN, "cannot open a session for an accepted peer: " + e.getMessage());
            return;
        }
        try {
            take(socket);
        } catch (RuntimeException | Error e) {
            // where the bootstrap was, the socket would do so; the session gets it, if there is one
            socket.fail(String.valueOf(e.getMessage()), e);
        }
    }

    /** Creates the session of a socket that is at home, or closes it. */
    void take(FramedSocket socket) {
        BootstrappedSession session;
        List<byte[]> own;
        try {
            socket.proven();
            session = engine.sessions().make(home, socket, terms, paths, new CompletableFuture<>());
            own = offers(session);
        } catch (SluiceException e) {
            refuse(socket, Level.INFO, String.valueOf(e.getMessage()));
            return;
        } catch (OutOfMemoryError e) {
            refuse(socket, Level.WARN, "this engine is short of memory: " + e.getMessage());
            return;
        }
        session.expectLanes();
        socket.send(MessageType.ACCEPT, PathOffers.write(new FieldWriter(), own).toBytes());
        session.begin(offers, home.now() + engine.options().connectTimeout().toNanos());
    }

    private static List<byte[]> offers(BootstrappedSession session) {
        try {
            return session.offers();
        } catch (RuntimeException | Error e) {
            session.discard();
            throw e;
        }
    }

    private void refuse(FramedSocket socket, Level level, String message) {
        noteRefusal(level, "a connection was rejected: " + message);
        try {
            socket.send(MessageType.REJECT, Rejection.write(Rejection.UNABLE, message));
        } finally {
            socket.close();
        }
    }

    private void noteRefusal(Level level, String message) {
        engine.handshakes().log().log(level, message, null);
        engine.handshakes().refused(Rejection.reason(Rejection.UNABLE));
    }

    @Override
    public Poller poller() {
        return home;
    }

    /** The hand-over cannot be held up, and the session that comes of it is asked for itself. */
    @Override
    public void abort() {}

    // ---- until the session takes the socket over, in the same step, nothing is read from it ----

    @Override
    public void message(int type, ByteBuffer body) {
        throw new IllegalStateException("nothing is read before the session is there");
    }

    @Override
    public void broken(String reason, @Nullable Throwable cause) {
        engine.handshakes().log().log(Level.DEBUG, "an accepted socket was closed: " + reason, cause);
    }
}
