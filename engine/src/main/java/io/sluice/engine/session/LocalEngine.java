package io.sluice.engine.session;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.ConnectionListener;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineMetrics;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PeerIdentity;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.VectoredTransferCallback;
import io.sluice.engine.flow.ConnectionEnd;
import io.sluice.engine.flow.EngineWindow;
import io.sluice.engine.flow.FlowCounters;
import io.sluice.engine.flow.RefusedSubmissions;
import io.sluice.engine.progress.Observers;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.transport.WorkRequest.Operation;
import io.sluice.jni.NativeLibrary;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The engine: it owns pollers, regions and connections, and finds them for each other. */
public final class LocalEngine implements TransferEngine {
    private static final Logger LOG = LoggerFactory.getLogger(LocalEngine.class);
    private static final AtomicInteger ENGINES = new AtomicInteger();
    private static final int MIN_CONTROL_BYTES = 128 * 1024;
    private static final Duration CLOSE_GRACE = Duration.ofSeconds(5);
    private static final Duration MOST_PATIENCE = Duration.ofDays(365);

    private final EngineOptions options;
    private final Credentials credentials;
    private final EngineId id = EngineId.random();
    private final long epoch = new SecureRandom().nextLong();
    private final DescriptorKeys descriptorKeys = new DescriptorKeys(id, epoch);
    private final NonceSource nonces = new NonceSource();
    private final EngineWindow engineWindow;
    private final LongAdder pendingOverflows = new LongAdder();
    private final RefusedSubmissions[] refusedSubmissions;
    private final @Nullable Observers observers;
    private final List<Poller> pollers;
    private final Transports transports;
    private final RegionRegistry registry = new RegionRegistry(this);
    private final Peers peers;
    // by poller and transport
    private final FlowCounters[][] counters;
    private final EngineFigures figures;
    private final AtomicInteger nextPoller = new AtomicInteger();
    private final AtomicLong nextConnection = new AtomicLong(1);
    private final Handshakes handshakes;
    private final Map<ByteBuffer, PeerSession> sessionsByConnectionId = new ConcurrentHashMap<>();
    // from the end of their bootstrap on, and from their opening on
    private final Set<PeerSession> all = ConcurrentHashMap.newKeySet();
    private final AtomicInteger sessions = new AtomicInteger();
    // those with a word that somebody waits for, or has waited for
    private final Set<LocalRegion> awaitedRegions = ConcurrentHashMap.newKeySet();
    private final Map<PeerSession, PeerConnection> open = new ConcurrentHashMap<>();
    private final Map<EngineAddress, CompletableFuture<Connection>> cached = new ConcurrentHashMap<>();
    private final UnfinishedWork unfinished = new UnfinishedWork();
    private final List<ConnectionListener> listeners = new CopyOnWriteArrayList<>();
    private final AtomicBoolean closing = new AtomicBoolean();
    private volatile boolean shuttingDown;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    // for what may block: host names, giving memory back
    private final ExecutorService housekeeping;
    private @Nullable PeerListener listener;
    private @Nullable String advertisedHost;

    /** The pollers that it makes are added to a list, so that they can be given back if it is not completed. */
    private LocalEngine(EngineOptions options, Credentials credentials, Transports transports, List<Poller> made) {
        this.options = options;
        this.credentials = credentials;
        this.handshakes = new Handshakes(options, System.nanoTime());
        this.observers = Observers.of(options);
        this.engineWindow = new EngineWindow(options.engineWindowOperations(), options.engineWindowBytes());
        this.transports = transports;
        int number = ENGINES.incrementAndGet();
        for (int i = 0; i < options.pollers(); i++) {
            made.add(new Poller("sluice-" + number + "-poller-" + i, i, options, this::pollerFailed));
        }
        this.pollers = List.copyOf(made);
        this.peers = new Peers(pollers.size(), transports.all().size());
        this.counters = new FlowCounters[pollers.size()][transports.all().size()];
        for (FlowCounters[] ofPoller : counters) {
            Arrays.setAll(ofPoller, transport -> new FlowCounters());
        }
        this.refusedSubmissions = new RefusedSubmissions[transports.all().size()];
        Arrays.setAll(refusedSubmissions, transport -> new RefusedSubmissions());
        this.figures = new EngineFigures(this, pollers, counters);
        this.housekeeping = Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task, "sluice-" + number + "-housekeeping");
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * Opens an engine.
     *
     * @param options all settings
     * @return the engine
     * @throws SluiceException if it cannot be opened; nothing of it stays open then
     */
    public static TransferEngine open(EngineOptions options) {
        try {
            VariableNames.warn(options.variables(VariableNames.PREFIX).keySet());
            NativeLibrary.ensureAvailable();
            LocalEngine engine = make(options);
            try {
                engine.startPollers();
                engine.listen();
            } catch (RuntimeException | Error e) {
                engine.close();
                throw e;
            }
            return engine;
        } catch (OutOfMemoryError e) {
            throw new SluiceException(
                    "cannot open an engine, the process is short of memory or threads (" + e.getMessage()
                            + "): raise -XX:MaxDirectMemorySize, -Xmx or the limit of threads, use fewer pollers, or"
                            + " close what holds them",
                    e);
        }
    }

    private static LocalEngine make(EngineOptions options) {
        Credentials credentials = new Credentials(options);
        Transports transports = Transports.open(options);
        List<Poller> made = new ArrayList<>(options.pollers());
        try {
            return new LocalEngine(options, credentials, transports, made);
        } catch (RuntimeException | Error e) {
            made.forEach(Poller::discard);
            transports.close();
            throw e;
        }
    }

    private void startPollers() {
        int started = 0;
        try {
            for (Poller poller : pollers) {
                poller.start();
                started++;
            }
        } catch (RuntimeException | Error e) {
            // no thread of theirs will give them back
            pollers.subList(started, pollers.size()).forEach(Poller::discard);
            throw e;
        }
    }

    private void listen() {
        String host = options.listenHost();
        if (host == null) {
            return;
        }
        InetAddress address;
        try {
            address = InetAddress.getByName(host);
        } catch (UnknownHostException e) {
            throw new SluiceException("cannot listen on '" + host + "': the name is not known", e);
        }
        if (!address.isLoopbackAddress() && !credentials.areAsked() && !options.allowUnauthenticatedPeers()) {
            throw new SluiceException(
                    "refusing to listen on " + host + " without a token or TLS: whoever reaches the port could"
                            + " connect. Set a token (SLUICE_TOKEN_FILE, SLUICE_TOKEN) or TLS (SLUICE_TLS_CERT), or listen on 127.0.0.1, or, where the network itself keeps"
                            + " strangers out, set SLUICE_ALLOW_UNAUTHENTICATED_PEERS=true");
        }
        PeerListener bound = PeerListener.bind(this, pollers.getFirst(), address, options.listenPort());
        listener = bound;
        String advertised = options.advertisedHost();
        advertisedHost = advertised != null ? advertised : AdvertisedHost.of(host, address, LocalNetwork.system());
        pollers.getFirst().execute(bound::start);
    }

    // ---- what the other classes of this package need ----

    UnfinishedWork unfinished() {
        return unfinished;
    }

    DescriptorKeys descriptorKeys() {
        return descriptorKeys;
    }

    NonceSource nonces() {
        return nonces;
    }

    EngineWindow engineWindow() {
        return engineWindow;
    }

    Credentials credentials() {
        return credentials;
    }

    RegionRights rightsOf(PeerIdentity peer) {
        return new RegionRights(options.authorizer(), peer);
    }

    /** What the connections of a transport on a poller count into. */
    FlowCounters counters(Poller poller, OpenTransport transport) {
        return counters[poller.index()][transport.index()];
    }

    /** What was submitted to connections of a transport that had ended. */
    RefusedSubmissions refusedSubmissions(OpenTransport transport) {
        return refusedSubmissions[transport.index()];
    }

    LongAdder pendingOverflows() {
        return pendingOverflows;
    }

    Peers peers() {
        return peers;
    }

    @Nullable
    Observers observers() {
        return observers;
    }

    /** The sessions of the open connections. */
    Collection<PeerSession> openSessions() {
        return open.keySet();
    }

    Transports transports() {
        return transports;
    }

    int maxControlBytes() {
        return Math.max(MIN_CONTROL_BYTES, options.maxNotificationBytes());
    }

    long nextConnectionNumber() {
        return nextConnection.getAndIncrement();
    }

    Poller nextPoller() {
        Poller next = pollers.getFirst();
        for (int i = 0; i < pollers.size(); i++) {
            next = pollers.get(Math.floorMod(nextPoller.getAndIncrement(), pollers.size()));
            if (next.isRunning()) {
                break;
            }
        }
        return next;
    }

    /** On the poller's thread, which ends: nothing of it may be left waiting. */
    private void pollerFailed(Poller poller) {
        for (PeerSession session : all) {
            if (session.poller().equals(poller)) {
                session.failed(new SluiceException("the poller of the connection has failed"));
            }
        }
        unfinished.abort(poller);
    }

    /** The sockets that are between accept and connection. */
    Handshakes handshakes() {
        return handshakes;
    }

    boolean hasRoomForConnection() {
        return sessions.get() < options.maxConnections();
    }

    /** Whether it takes no new connections because its end has begun. */
    boolean isClosing() {
        return closing.get() || shuttingDown;
    }

    /** False if there are as many connections as may be, those that are being set up included. */
    boolean begins(PeerSession session) {
        all.add(session);
        return sessions.incrementAndGet() <= options.maxConnections();
    }

    void expectLanes(PeerSession session) {
        sessionsByConnectionId.put(ByteBuffer.wrap(session.terms().connectionId()), session);
    }

    @Nullable
    PeerSession sessionOf(byte[] connectionId) {
        return sessionsByConnectionId.get(ByteBuffer.wrap(connectionId));
    }

    void connectionOpened(PeerSession session) {
        PeerConnection connection = session.connection();
        open.put(session, connection);
        if (isClosing()) {
            session.poller().execute(session::closeHere);
        }
        if (!session.initiator()) {
            listeners.forEach(each -> tell(each, connection));
        }
    }

    void connectionEnded(PeerSession session, ConnectionEnd why) {
        LOG.debug("{} has ended: {}", session.connection(), why.reason());
        sessionsByConnectionId.remove(ByteBuffer.wrap(session.terms().connectionId()));
        if (all.remove(session)) {
            sessions.decrementAndGet();
        }
        open.remove(session);
        cached.values()
                .removeIf(known -> known.isDone()
                        && !known.isCompletedExceptionally()
                        && known.join().equals(session.connection()));
    }

    long lockedBytes() {
        return registry.all().stream().mapToLong(LocalRegion::lockedBytes).sum();
    }

    @Nullable
    LocalRegion region(long regionId) {
        return registry.get(regionId);
    }

    @Nullable
    LocalRegion region(String name) {
        return registry.get(name);
    }

    /** Somebody waits for a word of the region, which peers may change without telling which. */
    void awaited(LocalRegion region) {
        awaitedRegions.add(region);
        if (!region.isOpen()) {
            awaitedRegions.remove(region);
        }
    }

    void wordsChanged() {
        for (LocalRegion region : awaitedRegions) {
            if (region.acquire()) {
                try {
                    region.words().anyChanged();
                } finally {
                    region.release();
                }
            }
        }
    }

    void regionClosing(LocalRegion region) {
        awaitedRegions.remove(region);
        registry.remove(region);
        all.forEach(session -> session.poller().execute(() -> session.regionClosing(region)));
    }

    void regionClosed(LocalRegion region, Runnable giveBack) {
        LOG.debug("{} is closed", region);
        Observers told = observers;
        if (told != null) {
            told.regionClosed(region);
        }
        try {
            housekeeping.execute(giveBack);
        } catch (RejectedExecutionException ended) {
            // a region that was being made while the engine was closed
            giveBack.run();
        }
    }

    // ---- the engine ----

    @Override
    public EngineId id() {
        return id;
    }

    @Override
    public long epoch() {
        return epoch;
    }

    @Override
    public EngineOptions options() {
        return options;
    }

    @Override
    public EngineAddress address() {
        PeerListener bound = listener;
        String host = advertisedHost;
        if (bound == null || host == null) {
            throw new IllegalStateException("the engine does not listen, so it has no address");
        }
        int port = options.advertisedHost() != null && options.advertisedPort() != 0
                ? options.advertisedPort()
                : bound.port();
        return new EngineAddress(host, port, id);
    }

    @Override
    public MemoryRegion allocate(long bytes, RegionOptions regionOptions) {
        ensureOpen();
        return opened(() -> registry.allocate(bytes, regionOptions));
    }

    @Override
    public MemoryRegion register(MemorySegment segment, RegionOptions regionOptions) {
        ensureOpen();
        return opened(() -> registry.register(segment, regionOptions));
    }

    private MemoryRegion opened(Supplier<LocalRegion> making) {
        Observers told = observers;
        if (told == null) {
            return unlessClosed(making.get());
        }
        long begun = System.nanoTime();
        LocalRegion region = making.get();
        told.regionOpened(region, System.nanoTime() - begun);
        return unlessClosed(region);
    }

    /** The engine may have been closed after the check, and then nobody else closes the region. */
    private MemoryRegion unlessClosed(LocalRegion region) {
        if (closing.get()) {
            region.close();
            ensureOpen();
        }
        return region;
    }

    private void ensureOpen() {
        if (closing.get()) {
            throw new ConnectionClosedException("the engine is closed");
        }
    }

    @Override
    public Collection<MemoryRegion> regions() {
        return List.copyOf(registry.all());
    }

    @Override
    public CompletableFuture<Connection> connect(EngineAddress address) {
        if (closing.get()) {
            return CompletableFuture.failedFuture(new ConnectionClosedException("the engine is closed"));
        }
        if (shuttingDown) {
            return CompletableFuture.failedFuture(new ConnectionClosedException("the engine is being shut down"));
        }
        if (!hasRoomForConnection()) {
            return CompletableFuture.failedFuture(
                    new ConnectFailedException("this engine has as many connections as maxConnections allows"));
        }
        CompletableFuture<PeerConnection> opened = new CompletableFuture<>();
        ConnectAttempt.begin(this, address, opened);
        return opened.thenApply(connection -> connection);
    }

    @Override
    public CompletableFuture<Connection> connection(EngineAddress address) {
        CompletableFuture<Connection> shared = cached.compute(address, (key, known) -> {
            boolean usable = known != null
                    && !known.isCompletedExceptionally()
                    && (!known.isDone() || known.join().state() == ConnectionState.OPEN);
            return usable ? known : connect(address);
        });
        // what failed need not be remembered: the next call tries again
        shared.whenComplete((connection, error) -> {
            if (error != null) {
                cached.remove(address, shared);
            }
        });
        return shared.copy();
    }

    @Override
    public Transfer writeVectored(
            List<TransferElement> elements, TransferOptions transferOptions, VectoredTransferCallback callback) {
        ensureOpen();
        return SpanningTransfer.start(this, Operation.WRITE, elements, transferOptions, callback);
    }

    @Override
    public Transfer readVectored(
            List<TransferElement> elements, TransferOptions transferOptions, VectoredTransferCallback callback) {
        ensureOpen();
        return SpanningTransfer.start(this, Operation.READ, elements, transferOptions, callback);
    }

    @Override
    public Collection<Connection> connections() {
        return List.copyOf(open.values());
    }

    @Override
    public Registration onConnection(ConnectionListener added) {
        // a connection that opens meanwhile may be told of twice, so each listener remembers
        OnceListener once = new OnceListener(added);
        listeners.add(once);
        open.forEach((session, connection) -> {
            if (!session.initiator()) {
                session.poller().execute(() -> tell(once, connection));
            }
        });
        return () -> listeners.remove(once);
    }

    private static void tell(ConnectionListener to, PeerConnection connection) {
        try {
            to.accepted(connection);
        } catch (Throwable e) {
            LOG.error("a connection listener has thrown", e);
        }
    }

    @Override
    public EngineMetrics metrics() {
        return figures;
    }

    @Override
    public CompletableFuture<Void> cycled() {
        if (closing.get()) {
            return CompletableFuture.failedFuture(new ConnectionClosedException("the engine is closed"));
        }
        List<CompletableFuture<Void>> cycles = new ArrayList<>();
        for (Poller poller : pollers) {
            if (!poller.isRunning()) {
                return CompletableFuture.failedFuture(new SluiceException("a poller has failed"));
            }
            CompletableFuture<Void> cycle = new CompletableFuture<>();
            poller.execute(() -> cycle.complete(null));
            cycles.add(cycle);
        }
        return CompletableFuture.allOf(cycles.toArray(CompletableFuture<?>[]::new));
    }

    @Override
    public CompletableFuture<Void> shutdown(Duration patience) {
        if (patience.isNegative()) {
            throw new IllegalArgumentException("nothing is waited for during " + patience);
        }
        shuttingDown = true;
        stopListening();
        CompletableFuture<?>[] ends = open.values().stream()
                .map(connection -> connection.shutdown(patience))
                .toArray(CompletableFuture<?>[]::new);
        return CompletableFuture.allOf(ends)
                .handle((nothing, error) -> closeAsync())
                .thenCompose(end -> end);
    }

    private void stopListening() {
        PeerListener bound = listener;
        if (bound != null) {
            pollers.getFirst().execute(bound::close);
        }
    }

    /** A time that can be added to one of the clock's. */
    static long boundedNanos(Duration time) {
        return time.compareTo(MOST_PATIENCE) < 0 ? time.toNanos() : MOST_PATIENCE.toNanos();
    }

    @Override
    public CompletableFuture<Void> closeAsync() {
        if (closing.compareAndSet(false, true)) {
            stopListening();
            CompletableFuture<?>[] ends =
                    open.values().stream().map(PeerConnection::close).toArray(CompletableFuture<?>[]::new);
            CompletableFuture.allOf(ends)
                    .thenCompose(nothing -> CompletableFuture.allOf(
                            registry.all().stream().map(LocalRegion::close).toArray(CompletableFuture<?>[]::new)))
                    .thenCompose(nothing -> unfinished.abortAll())
                    .whenComplete((nothing, error) -> stopPollers());
        }
        return closed.copy();
    }

    private void stopPollers() {
        CompletableFuture.allOf(pollers.stream().map(Poller::stop).toArray(CompletableFuture<?>[]::new))
                .whenComplete((nothing, error) -> {
                    // behind the regions that are still being given back
                    try {
                        housekeeping.execute(this::givenBack);
                    } catch (OutOfMemoryError noThread) {
                        givenBack();
                    }
                    housekeeping.shutdown();
                });
    }

    private void givenBack() {
        transports.close();
        closed.complete(null);
    }

    @Override
    public void close() {
        try {
            closeAsync().get(options.livenessTimeout().plus(CLOSE_GRACE).toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException e) {
            LOG.warn("the engine did not close in order", e);
        }
    }

    @Override
    public String toString() {
        return "TransferEngine[" + id + (listener == null ? "" : ", " + address()) + "]";
    }
}
