package io.sluice.engine.session;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionListener;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.LoopGroup;
import io.sluice.engine.PeerIdentity;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine.ListenerHandle;
import io.sluice.engine.bootstrap.BootstrappedSession;
import io.sluice.engine.bootstrap.PeerTerms;
import io.sluice.engine.bootstrap.SessionRegistry;
import io.sluice.engine.control.FramedSocket;
import io.sluice.engine.flow.ConnectionEnd;
import io.sluice.engine.memory.LocalRegion;
import io.sluice.engine.memory.RegionRights;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.providers.OpenTransport;
import java.nio.ByteBuffer;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The sessions of an engine, and the connections of the open ones. Thread-safe. */
final class EngineSessions implements SessionRegistry {
    /** The error when the limit of connections is reached. */
    static final String FULL = "this engine has as many connections as maxConnections allows";

    private static final Logger LOG = LoggerFactory.getLogger(EngineSessions.class);

    private final EngineParts engine;
    private final List<Poller> pollers;
    private final BooleanSupplier closing;
    private final AtomicInteger nextPoller = new AtomicInteger();
    private final AtomicLong nextConnection = new AtomicLong(1);
    private final Map<ByteBuffer, PeerSession> byConnectionId = new ConcurrentHashMap<>();
    // from the end of their bootstrap on, and from their opening on
    private final Set<PeerSession> all = ConcurrentHashMap.newKeySet();
    private final AtomicInteger count = new AtomicInteger();
    private final Map<PeerSession, DefaultConnection> open = new ConcurrentHashMap<>();
    private final Set<PeerSession> unquiet = ConcurrentHashMap.newKeySet();
    private final Map<EngineAddress, CompletableFuture<Connection>> cached = new ConcurrentHashMap<>();
    private final List<ConnectionListener> listeners = new CopyOnWriteArrayList<>();

    /**
     * Creates an empty set of sessions.
     *
     * @param pollers the pollers that drive sessions
     * @param closing whether the engine is closing
     */
    EngineSessions(EngineParts engine, List<Poller> pollers, BooleanSupplier closing) {
        this.engine = engine;
        this.pollers = pollers;
        this.closing = closing;
    }

    // ---- before they are open ----

    @Override
    public boolean isClosing() {
        return closing.getAsBoolean();
    }

    @Override
    public boolean hasRoom() {
        return count.get() < engine.options().maxConnections();
    }

    @Override
    public Poller nextPoller() {
        return runningFrom(nextPoller.getAndIncrement());
    }

    @Override
    public Poller homeOf(LoopGroup group) {
        return runningFrom(group.id());
    }

    /** The poller with a number, which wraps around, or the next that has not failed. */
    private Poller runningFrom(long number) {
        int first = Math.floorMod(number, pollers.size());
        for (int i = 0; i < pollers.size(); i++) {
            Poller poller = pollers.get((first + i) % pollers.size());
            if (poller.isRunning()) {
                return poller;
            }
        }
        return pollers.get(first);
    }

    @Override
    public boolean mayConnect(PeerIdentity peer) {
        return new RegionRights(engine.options().authorizer(), peer).mayConnect();
    }

    @Override
    public BootstrappedSession make(
            Poller poller,
            FramedSocket control,
            PeerTerms terms,
            List<OpenTransport> transports,
            CompletableFuture<Connection> opened) {
        return new PeerSession(
                engine, this, poller, control, terms, transports, nextConnection.getAndIncrement(), opened);
    }

    @Override
    public @Nullable BootstrappedSession expecting(byte[] connectionId) {
        return byConnectionId.get(ByteBuffer.wrap(connectionId));
    }

    void expectLanes(PeerSession session) {
        byConnectionId.put(ByteBuffer.wrap(session.terms().connectionId()), session);
    }

    /** Returns false if the limit of connections, including those being set up, is reached. */
    boolean begins(PeerSession session) {
        all.add(session);
        return count.incrementAndGet() <= engine.options().maxConnections();
    }

    // ---- their life ----

    void opened(PeerSession session) {
        DefaultConnection connection = session.connection();
        open.put(session, connection);
        if (isClosing()) {
            session.poller().execute(session::closeHere);
        }
        if (!session.terms().initiator()) {
            listeners.forEach(each -> tell(each, connection));
        }
    }

    void ended(PeerSession session, ConnectionEnd why) {
        LOG.debug("{} has ended: {}", session.connection(), why.reason());
        byConnectionId.remove(ByteBuffer.wrap(session.terms().connectionId()));
        if (all.remove(session)) {
            count.decrementAndGet();
        }
        if (!session.quiescent().isDone()) {
            unquiet.add(session);
            session.quiescent().whenComplete((nothing, error) -> unquiet.remove(session));
        }
        open.remove(session);
        cached.values()
                .removeIf(known -> known.isDone()
                        && !known.isCompletedExceptionally()
                        && known.join().equals(session.connection()));
    }

    /** Ends the sessions of a poller whose thread ends, so that nothing waits for it. On that thread. */
    void pollerFailed(Poller poller) {
        for (PeerSession session : all) {
            if (session.poller().equals(poller)) {
                session.failed(new SluiceException("the poller of the connection has failed"));
            }
        }
    }

    void regionClosing(LocalRegion region) {
        all.forEach(session -> session.poller().execute(() -> session.regionClosing(region)));
    }

    // ---- the open ones ----

    /** The sessions of the open connections, as a live view. */
    Collection<PeerSession> open() {
        return open.keySet();
    }

    Collection<DefaultConnection> connections() {
        return open.values();
    }

    /** Sessions that have ended, but whose endpoints are still at work or owe their peers a message. */
    Stream<PeerSession> unquiet() {
        return unquiet.stream().filter(session -> session.poller().isRunning());
    }

    /** The connection to an address that is open or being set up, or else a new one. */
    CompletableFuture<Connection> shared(
            EngineAddress address, Function<EngineAddress, CompletableFuture<Connection>> connect) {
        CompletableFuture<Connection> shared = cached.compute(address, (key, known) -> {
            boolean usable = known != null
                    && !known.isCompletedExceptionally()
                    && (!known.isDone() || known.join().state() == ConnectionState.OPEN);
            return usable ? known : connect.apply(address);
        });
        // a failure need not be kept: the next call tries again
        shared.whenComplete((connection, error) -> {
            if (error != null) {
                cached.remove(address, shared);
            }
        });
        return shared.copy();
    }

    ListenerHandle onConnection(ConnectionListener added) {
        // a connection that opens meanwhile may be reported twice, so each listener remembers
        OnceListener once = new OnceListener(added);
        listeners.add(once);
        open.forEach((session, connection) -> {
            if (!session.terms().initiator()) {
                session.poller().execute(() -> tell(once, connection));
            }
        });
        return () -> listeners.remove(once);
    }

    private static void tell(ConnectionListener to, DefaultConnection connection) {
        try {
            to.accepted(connection);
        } catch (Throwable e) {
            LOG.error("a connection listener threw an exception for {}", connection, e);
        }
    }
}
