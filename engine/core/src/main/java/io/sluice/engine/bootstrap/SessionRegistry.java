package io.sluice.engine.bootstrap;

import io.sluice.engine.Connection;
import io.sluice.engine.LoopGroup;
import io.sluice.engine.PeerIdentity;
import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.providers.OpenTransport;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Creates and finds the sessions of an engine. Thread-safe. */
public interface SessionRegistry {
    /** Whether the engine accepts no new connections because it is closing. */
    boolean isClosing();

    /** Returns false if the limit of connections is reached. */
    boolean hasRoom();

    /** Returns the poller of the next connection, in rotation. */
    Poller nextPoller();

    /** Returns the poller of all connections of a group. */
    Poller homeOf(LoopGroup group);

    /** Whether the user lets the peer connect. */
    boolean mayConnect(PeerIdentity peer);

    /**
     * Creates a session, on its poller.
     *
     * @param control the socket of the bootstrap, which becomes the control channel
     * @param terms what the bootstrap has agreed on
     * @param transports of its paths, the preferred one first
     * @param opened completed with the connection when it is open, or with the reason why it never is
     */
    BootstrappedSession make(
            Poller poller,
            FramedSocket control,
            PeerTerms terms,
            List<OpenTransport> transports,
            CompletableFuture<Connection> opened);

    /** The session that expects lanes under this number. */
    @Nullable
    BootstrappedSession expecting(byte[] connectionId);
}
