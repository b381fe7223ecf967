package io.sluice.reactor;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.ConnectOptions;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RegionMemory;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.Signal;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.TransferResult;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink.OverflowStrategy;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A {@link TransferEngine} with a reactive face.
 *
 * <p>Every Mono and Flux is lazy and cold: nothing happens before a subscriber requests, and each subscriber
 * starts its own operation. Signals come on the engine's poller threads, which must not block; Reactor knows them as
 * non-blocking, so that {@code block()} on one of them throws {@link IllegalStateException}. To leave them, use
 * {@code publishOn}, or {@link ReactiveConnection#withScheduler} for all operations of a connection.
 *
 * <p>BlockHound, where it is installed, flags every blocking call on them; with Sluice on the module path it needs
 * {@code --add-reads io.sluice.reactor=ALL-UNNAMED}.
 *
 * <p>All methods may be called from any thread.
 */
public final class ReactiveTransferEngine {
    static {
        PollerThreads.declareNonBlocking();
    }

    private final TransferEngine engine;
    private final Sinks.Empty<Void> closed = Sinks.empty();

    private ReactiveTransferEngine(TransferEngine engine) {
        this.engine = Objects.requireNonNull(engine, "engine");
    }

    /**
     * Opens an engine with {@linkplain EngineOptions#fromEnvironment() the defaults and the environment}.
     *
     * @return the engine, listening on a free loopback port
     * @throws SluiceException if it cannot listen or no transport is available
     */
    public static ReactiveTransferEngine open() {
        return new ReactiveTransferEngine(TransferEngine.open());
    }

    /**
     * Opens an engine.
     *
     * @param options all settings
     * @return the engine
     * @throws SluiceException if it cannot listen or a transport that the options name is not available
     */
    public static ReactiveTransferEngine open(EngineOptions options) {
        return new ReactiveTransferEngine(TransferEngine.open(options));
    }

    /**
     * Gives an engine that exists a reactive face. Both faces may be used side by side.
     *
     * @param engine open
     * @return the same engine
     */
    public static ReactiveTransferEngine from(TransferEngine engine) {
        return new ReactiveTransferEngine(engine);
    }

    /**
     * The engine itself.
     *
     * @return the engine behind this face
     */
    public TransferEngine engine() {
        return engine;
    }

    /**
     * What a peer needs to connect to this engine.
     *
     * @return the advertised host and the bound port, with the identity
     * @throws IllegalStateException if the engine does not listen
     */
    public EngineAddress address() {
        return engine.address();
    }

    /**
     * Allocates zeroed memory and registers it; see {@link TransferEngine#allocate}.
     *
     * @param bytes at least 1
     * @param options access and name
     * @return the region
     * @throws RegistrationException if the memory is not to be had, or the name is taken
     */
    public MemoryRegion allocate(long bytes, RegionOptions options) {
        return engine.allocate(bytes, options);
    }

    /**
     * Registers memory of the caller, <strong>which must outlive the region</strong>; see
     * {@link TransferEngine#register}.
     *
     * @param segment native memory that every thread may use
     * @param options access and name
     * @return the region
     * @throws RegistrationException if the segment cannot be registered, or the name is taken
     */
    public MemoryRegion register(MemorySegment segment, RegionOptions options) {
        return engine.register(segment, options);
    }

    /**
     * Registers memory of the caller, of any kind that a transport registers, <strong>which must outlive the region</strong>; see
     * {@link TransferEngine#register(RegionMemory, RegionOptions)}.
     *
     * @param memory of the host or of a device
     * @param options access and name
     * @return the region
     * @throws RegistrationException if the memory cannot be registered, or the name is taken
     */
    public MemoryRegion register(RegionMemory memory, RegionOptions options) {
        return engine.register(memory, options);
    }

    /**
     * Makes a new connection.
     *
     * <p><strong>Cancel.</strong> A connection that has no taker is closed again: one that is made after the cancel, one
     * that is being handed over when another thread cancels, and one that an operator drops as it cancels, as
     * {@code timeout} does at its limit. So {@code connect(address).timeout(limit)} leaves no connection behind, also with
     * {@code map}, {@code retry}, {@code onErrorResume} and the like before it; nor do {@code takeUntilOther} and the
     * {@code dispose} of a {@code subscribe(consumer)}. {@code next} and {@code take}, which cancel as they take, keep it.
     *
     * <p>An operator that holds its values, merges sources or changes the thread has taken the connection when
     * {@code onNext} returns: {@code zip}, {@code firstWithValue}, {@code firstWithSignal}, {@code switchMap} and
     * {@code flatMap} of a Flux, {@code publishOn}, {@code delayElement}, {@code cache}. What they drop later goes to a
     * {@code doOnDiscard} behind them; the losers of {@code first...} go nowhere if they come in the moment of the
     * winner. Put a {@code timeout} before them. {@code Hooks.resetOnNextDropped} hides from this class what
     * {@code timeout} drops.
     *
     * @param address of the peer
     * @return the connection; or {@link ConnectFailedException} or another {@link SluiceException} within the connect
     *     time-out
     */
    public Mono<ReactiveConnection> connect(EngineAddress address) {
        return connect(address, ConnectOptions.defaults());
    }

    /**
     * Makes a new connection for each subscriber in a way of the caller's, such as one that shares the loop of others.
     *
     * @param address of the peer
     * @param options how
     * @return as {@link #connect(EngineAddress)}
     */
    public Mono<ReactiveConnection> connect(EngineAddress address, ConnectOptions options) {
        Objects.requireNonNull(address, "address");
        Objects.requireNonNull(options, "options");
        return FutureMono.<ReactiveConnection>ofResource(
                        "connect", () -> reactive(engine.connect(address, options)), null)
                .doOnDiscard(
                        ReactiveConnection.class,
                        unwanted -> unwanted.connection().close());
    }

    /**
     * The cached connection to an address. The first subscriber connects, later ones share the connection; when it has
     * ended, the next one makes another. A cancel leaves it open.
     *
     * @param address of the peer
     * @return as {@link #connect(EngineAddress)}
     */
    public Mono<ReactiveConnection> connection(EngineAddress address) {
        Objects.requireNonNull(address, "address");
        return FutureMono.of("connection", () -> reactive(engine.connection(address)));
    }

    /**
     * Writes many elements with default options; as {@link #writeVectored(Publisher, TransferOptions)}.
     *
     * @param elements copied
     * @return one result an element
     */
    public Flux<TransferResult> writeVectored(List<TransferElement> elements) {
        return writeVectored(elements, TransferOptions.defaults());
    }

    /**
     * Writes many elements; as {@link #writeVectored(Publisher, TransferOptions)}, but neighbours that take one connection
     * go together, as {@link ReactiveConnection#writeVectored(List)} tells.
     *
     * @param elements copied
     * @param options of each element
     * @return one result an element
     */
    public Flux<TransferResult> writeVectored(List<TransferElement> elements, TransferOptions options) {
        return vectored(Direction.WRITE, elements, options);
    }

    /**
     * Writes every element that a publisher gives with default options; as
     * {@link #writeVectored(Publisher, TransferOptions)}.
     *
     * @param elements the publisher, subscribed to once for each subscriber
     * @return one result an element
     */
    public Flux<TransferResult> writeVectored(Publisher<TransferElement> elements) {
        return writeVectored(elements, TransferOptions.defaults());
    }

    /**
     * Writes every element that a publisher gives over the connection that its remote region was attached on: one batch to
     * many peers. Each is a transfer with these options and a result of its own; a connection that ends fails its own
     * elements alone.
     *
     * <p>Demand, results, end and cancel are as {@link ReactiveConnection#writeVectored(Publisher)} tells. The publisher
     * is asked for as many elements ahead of the results that were emitted as fill the windows of the connections that are
     * open at the subscription, of this engine's window at most. If a peer lags behind, its elements may come to take all
     * of those places: what must not wait for a slow peer belongs into a batch of its own.
     *
     * @param elements the publisher, subscribed to once for each subscriber
     * @param options of each element
     * @return one result an element
     */
    public Flux<TransferResult> writeVectored(Publisher<TransferElement> elements, TransferOptions options) {
        return vectored(Direction.WRITE, elements, options);
    }

    /**
     * Reads many elements with default options; as {@link #writeVectored(Publisher, TransferOptions)}.
     *
     * @param elements copied
     * @return one result an element
     */
    public Flux<TransferResult> readVectored(List<TransferElement> elements) {
        return readVectored(elements, TransferOptions.defaults());
    }

    /**
     * Reads many elements; as {@link #writeVectored(List, TransferOptions)}.
     *
     * @param elements copied
     * @param options of each element
     * @return one result an element
     */
    public Flux<TransferResult> readVectored(List<TransferElement> elements, TransferOptions options) {
        return vectored(Direction.READ, elements, options);
    }

    /**
     * Reads every element that a publisher gives with default options; as
     * {@link #writeVectored(Publisher, TransferOptions)}.
     *
     * @param elements the publisher, subscribed to once for each subscriber
     * @return one result an element
     */
    public Flux<TransferResult> readVectored(Publisher<TransferElement> elements) {
        return readVectored(elements, TransferOptions.defaults());
    }

    /**
     * Reads every element that a publisher gives; as {@link #writeVectored(Publisher, TransferOptions)}.
     *
     * @param elements the publisher, subscribed to once for each subscriber
     * @param options of each element
     * @return one result an element
     */
    public Flux<TransferResult> readVectored(Publisher<TransferElement> elements, TransferOptions options) {
        return vectored(Direction.READ, elements, options);
    }

    /**
     * Waits, without a thread, until a counter in one of this process's regions is at least a value. The wait begins when
     * the subscriber asks, and a cancel removes it; where the peer may never come, bound it with {@code timeout}.
     *
     * @param signal the counter; see {@link MemoryRegion#signal(long)}
     * @param value the least
     * @return the value that was seen, on the thread that made the update, mostly a poller's, or on the one that asks;
     *     {@link RegionClosedException} if the region closes first
     */
    public static Mono<Long> awaitAtLeast(Signal signal, long value) {
        return SignalMono.of(signal, value);
    }

    /**
     * The connections that peers make, first those that are open already. Peers may connect with and without a
     * subscriber. One that lags behind by more than {@link EngineOptions#maxConnections()} connections is
     * failed with an overflow error.
     *
     * @return completes when this engine is {@linkplain #close() closed} through this object
     */
    public Flux<ReactiveConnection> accepted() {
        return Flux.<ReactiveConnection>create(
                        sink -> {
                            TransferEngine.ListenerHandle registration =
                                    engine.onConnection(connection -> sink.next(ReactiveConnection.from(connection)));
                            sink.onDispose(registration::close);
                        },
                        OverflowStrategy.IGNORE)
                .onBackpressureBuffer(engine.options().maxConnections())
                .takeUntilOther(closed.asMono());
    }

    /**
     * Closes the engine in order, when what is under way on its connections has ended; see {@link TransferEngine#shutdown}.
     *
     * @param patience the most time for that, 0 or more
     * @return completes when nothing of the engine touches memory any more
     */
    public Mono<Void> shutdown(Duration patience) {
        Objects.requireNonNull(patience, "patience");
        return FutureMono.of("shutdown", () -> {
            CompletableFuture<Void> end = engine.shutdown(patience);
            closed.tryEmitEmpty();
            return end;
        });
    }

    /**
     * Ends all connections, then the regions, then the pollers.
     *
     * @return completes when nothing of the engine touches memory any more
     */
    public Mono<Void> close() {
        return FutureMono.of("close", () -> {
            closed.tryEmitEmpty();
            return engine.closeAsync();
        });
    }

    private Flux<TransferResult> vectored(
            Direction direction, List<TransferElement> elements, TransferOptions options) {
        List<TransferElement> copy = List.copyOf(elements);
        int connections = (int) copy.stream()
                .map(element -> element.remote().connection())
                .distinct()
                .count();
        Route route = new SpanningRoute(engine.options(), () -> connections);
        return VectoredTransferFlux.of(route, direction, copy, Objects.requireNonNull(options, "options"), null);
    }

    private Flux<TransferResult> vectored(
            Direction direction, Publisher<TransferElement> elements, TransferOptions options) {
        Route route =
                new SpanningRoute(engine.options(), () -> engine.connections().size());
        return VectoredTransferFlux.of(route, direction, elements, Objects.requireNonNull(options, "options"), null);
    }

    private static CompletableFuture<ReactiveConnection> reactive(CompletableFuture<Connection> connecting) {
        return connecting.thenApply(ReactiveConnection::from);
    }
}
