package io.sluice.engine.session;

import io.sluice.engine.ConnectOptions;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.ConnectionListener;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineMetrics;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.LimitExceededException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.VectoredTransferCallback;
import io.sluice.engine.bootstrap.AdvertisedHost;
import io.sluice.engine.bootstrap.BootstrapContext;
import io.sluice.engine.bootstrap.ConnectAttempt;
import io.sluice.engine.bootstrap.Credentials;
import io.sluice.engine.bootstrap.Handshakes;
import io.sluice.engine.bootstrap.LocalNetwork;
import io.sluice.engine.bootstrap.NonceSource;
import io.sluice.engine.bootstrap.PeerListener;
import io.sluice.engine.control.UnfinishedWork;
import io.sluice.engine.figures.EngineCounters;
import io.sluice.engine.figures.EngineFigures;
import io.sluice.engine.flow.EngineWindow;
import io.sluice.engine.memory.DescriptorKeys;
import io.sluice.engine.memory.LocalRegion;
import io.sluice.engine.memory.RegionRegistry;
import io.sluice.engine.memory.RegionReleases;
import io.sluice.engine.progress.Observers;
import io.sluice.engine.progress.Poller;
import io.sluice.engine.providers.TransportLoops;
import io.sluice.engine.providers.Transports;
import io.sluice.engine.providers.VariableNames;
import io.sluice.engine.transport.WorkRequest.Opcode;
import io.sluice.jni.NativeLibrary;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The engine: owns pollers, regions and connections. */
public final class DefaultTransferEngine implements TransferEngine {
    private static final Logger LOG = LoggerFactory.getLogger(DefaultTransferEngine.class);
    private static final AtomicInteger ENGINES = new AtomicInteger();
    private static final Duration CLOSE_GRACE = Duration.ofSeconds(5);
    private static final long UNQUIET_SECONDS = 2;

    private final EngineOptions options;
    private final Credentials credentials;
    private final EngineId id = EngineId.random();
    private final long epoch = new SecureRandom().nextLong();
    private final @Nullable Observers observers;
    private final List<Poller> pollers;
    private final Transports transports;
    private final TransportLoops loops;
    private final RegionRegistry regions;
    private final EngineFigures figures;
    private final Handshakes handshakes;
    private final EngineSessions sessions;
    private final UnfinishedWork unfinished = new UnfinishedWork();
    private final BootstrapContext bootstraps;
    private final AtomicBoolean closing = new AtomicBoolean();
    private volatile boolean shuttingDown;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    // for blocking work: host names, releasing memory
    private final ExecutorService housekeeping;
    private final RegionReleases releases;
    private @Nullable PeerListener listener;
    private @Nullable String advertisedHost;

    /** The pollers that it makes are added to a list, so that they can be given back if it is not completed. */
    private DefaultTransferEngine(
            EngineOptions options, Credentials credentials, Transports transports, List<Poller> made) {
        this.options = options;
        this.credentials = credentials;
        this.handshakes = new Handshakes(options, System.nanoTime());
        this.observers = Observers.of(options);
        this.transports = transports;
        int number = ENGINES.incrementAndGet();
        for (int i = 0; i < options.pollers(); i++) {
            made.add(new Poller("sluice-" + number + "-poller-" + i, i, options, this::pollerFailed));
        }
        this.pollers = List.copyOf(made);
        // a poller hands work over, so that the queue must not lock
        this.housekeeping = new ThreadPoolExecutor(
                1,
                1,
                0,
                TimeUnit.SECONDS,
                new LinkedTransferQueue<>(),
                Thread.ofPlatform()
                        .daemon()
                        .name("sluice-" + number + "-housekeeping")
                        .factory());
        this.releases = new RegionReleases(housekeeping, options.livenessTimeout(), "sluice-" + number);
        this.regions = new RegionRegistry(
                transports.all(),
                new DescriptorKeys(id, epoch),
                this::regionClosing,
                observers,
                releases,
                pollers.getFirst());
        this.loops = new TransportLoops(pollers.size(), transports.all().size());
        EngineCounters counters =
                new EngineCounters(pollers.size(), transports.all().size());
        EngineWindow window = new EngineWindow(options.engineWindowOperations(), options.engineWindowBytes());
        EngineParts parts =
                new EngineParts(options, credentials, loops, counters, window, regions, unfinished, observers);
        this.sessions = new EngineSessions(parts, pollers, this::isClosing);
        this.bootstraps = new BootstrapContext(
                id, epoch, options, credentials, new NonceSource(), handshakes, transports, unfinished, sessions);
        this.figures = new EngineFigures(
                id, options, transports, pollers, counters, window, handshakes, regions, sessions.open());
    }

    /**
     * Opens an engine.
     *
     * @param options all settings
     * @return the engine
     * @throws SluiceException if it cannot be opened; nothing stays open then
     */
    public static TransferEngine open(EngineOptions options) {
        try {
            VariableNames.warn(options.variables(VariableNames.PREFIX).keySet());
            NativeLibrary.ensureAvailable();
            DefaultTransferEngine engine = make(options);
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
                            + " close what uses them",
                    e);
        }
    }

    private static DefaultTransferEngine make(EngineOptions options) {
        Credentials credentials = new Credentials(options);
        Transports transports = Transports.open(options);
        List<Poller> made = new ArrayList<>(options.pollers());
        try {
            return new DefaultTransferEngine(options, credentials, transports, made);
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
            // none of their threads will release them
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
                    "refusing to listen on " + host + " without a token or TLS: any host that reaches the port could"
                            + " connect. Set a token (SLUICE_TOKEN_FILE, SLUICE_TOKEN) or TLS (SLUICE_TLS_CERT), or listen on 127.0.0.1, or, where the network itself keeps"
                            + " strangers out, set SLUICE_ALLOW_UNAUTHENTICATED_PEERS=true");
        }
        PeerListener bound = PeerListener.bind(bootstraps, pollers.getFirst(), address, options.listenPort());
        listener = bound;
        String advertised = options.advertisedHost();
        advertisedHost = advertised != null ? advertised : AdvertisedHost.of(host, address, LocalNetwork.system());
        pollers.getFirst().execute(bound::start);
    }

    /** The sockets that are between accept and connection. */
    public Handshakes handshakes() {
        return handshakes;
    }

    /** Ends the engine's work on a poller whose thread ends, so that nothing waits for it. On that thread. */
    private void pollerFailed(Poller poller) {
        poller.stages().close("the loop has failed");
        sessions.pollerFailed(poller);
        unfinished.abort(poller);
    }

    private void regionClosing(LocalRegion region) {
        sessions.regionClosing(region);
    }

    /** Whether it takes no new connections because its end has begun. */
    private boolean isClosing() {
        return closing.get() || shuttingDown;
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
        return opened(() -> regions.allocate(bytes, regionOptions));
    }

    @Override
    public MemoryRegion register(RegionMemory memory, RegionOptions regionOptions) {
        ensureOpen();
        return opened(() -> regions.register(memory, regionOptions));
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

    /** Closes a region if the engine was closed after the check, when no other code would close it. */
    private MemoryRegion unlessClosed(LocalRegion region) {
        if (closing.get()) {
            region.close();
            ensureOpen();
        }
        return region;
    }

    private void ensureOpen() {
        if (closing.get()) {
            throw closedError();
        }
    }

    private ConnectionClosedException closedError() {
        return new ConnectionClosedException(this + " is closed; open another");
    }

    @Override
    public Collection<MemoryRegion> regions() {
        return List.copyOf(regions.all());
    }

    @Override
    public CompletableFuture<Connection> connect(EngineAddress address, ConnectOptions connectOptions) {
        Objects.requireNonNull(connectOptions, "connectOptions");
        if (closing.get()) {
            return CompletableFuture.failedFuture(closedError());
        }
        if (shuttingDown) {
            return CompletableFuture.failedFuture(
                    new ConnectionClosedException(this + " is being shut down; open another"));
        }
        if (!sessions.hasRoom()) {
            return CompletableFuture.failedFuture(new LimitExceededException(EngineSessions.FULL));
        }
        CompletableFuture<Connection> opened = new CompletableFuture<>();
        CompletableFuture<Connection> given = HandedOver.of(opened, Connection::close);
        ConnectAttempt.begin(bootstraps, address, connectOptions, opened);
        return given;
    }

    @Override
    public CompletableFuture<Connection> connection(EngineAddress address) {
        return sessions.shared(address, this::connect);
    }

    @Override
    public Transfer writeVectored(
            List<TransferElement> elements, TransferOptions transferOptions, VectoredTransferCallback callback) {
        ensureOpen();
        return SpanningTransfer.start(regions, Opcode.WRITE, elements, transferOptions, callback);
    }

    @Override
    public Transfer readVectored(
            List<TransferElement> elements, TransferOptions transferOptions, VectoredTransferCallback callback) {
        ensureOpen();
        return SpanningTransfer.start(regions, Opcode.READ, elements, transferOptions, callback);
    }

    @Override
    public Collection<Connection> connections() {
        return List.copyOf(sessions.connections());
    }

    @Override
    public ListenerHandle onConnection(ConnectionListener added) {
        return sessions.onConnection(added);
    }

    @Override
    public EngineMetrics metrics() {
        return figures;
    }

    @Override
    public CompletableFuture<Void> pingPollers() {
        if (closing.get()) {
            return CompletableFuture.failedFuture(closedError());
        }
        List<CompletableFuture<Void>> cycles = new ArrayList<>();
        for (Poller poller : pollers) {
            if (!poller.isRunning()) {
                return CompletableFuture.failedFuture(new SluiceException(
                        "poller " + poller.index() + " of " + this + " has failed, see the log; open another engine"));
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
            throw new IllegalArgumentException("patience must not be negative: " + patience);
        }
        shuttingDown = true;
        stopListening();
        CompletableFuture<?>[] ends = sessions.connections().stream()
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

    @Override
    public CompletableFuture<Void> closeAsync() {
        if (closing.compareAndSet(false, true)) {
            stopListening();
            pollers.forEach(poller -> poller.stages().close("the engine is closed"));
            // in this order: one that ends meanwhile is in the second
            CompletableFuture<?>[] ends = Stream.concat(
                            sessions.connections().stream().map(DefaultConnection::close),
                            sessions.unquiet().map(DefaultTransferEngine::quiescent))
                    .toArray(CompletableFuture<?>[]::new);
            // what fails holds up nothing else
            CompletableFuture.allOf(ends)
                    .handle((nothing, error) -> closeRegions())
                    .thenCompose(closing -> closing)
                    .handle((nothing, error) -> unfinished.abortAll())
                    .thenCompose(aborting -> aborting)
                    .whenComplete((nothing, error) -> stopPollers());
        }
        return closed.copy();
    }

    private CompletableFuture<Void> closeRegions() {
        return CompletableFuture.allOf(
                regions.all().stream().map(DefaultTransferEngine::closed).toArray(CompletableFuture<?>[]::new));
    }

    private static CompletableFuture<Void> closed(LocalRegion region) {
        CompletableFuture<Void> end;
        try {
            end = region.close();
        } catch (RuntimeException | Error e) {
            end = CompletableFuture.failedFuture(e);
        }
        return end.whenComplete((nothing, error) -> {
            if (error != null) {
                LOG.warn("{} is not given back by the closing engine", region, error);
            }
        });
    }

    /** A peer that is lost, and perhaps frozen, holds up the engine for a moment at most. */
    private static CompletableFuture<Void> quiescent(PeerSession session) {
        return session.quiescent().copy().completeOnTimeout(null, UNQUIET_SECONDS, TimeUnit.SECONDS);
    }

    private void stopPollers() {
        pollers.forEach(poller -> poller.execute(() -> loops.close(poller)));
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
        releases.close();
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
            LOG.warn("engine {} could not be closed", id, e);
        }
    }

    @Override
    public String toString() {
        return "TransferEngine[" + id + (listener == null ? "" : ", " + address()) + "]";
    }
}
