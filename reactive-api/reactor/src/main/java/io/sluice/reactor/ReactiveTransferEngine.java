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
 * A {@link TransferEngine} with a reactive interface.
 *
 * <p>Every Mono and Flux is lazy and cold: nothing happens before a subscriber requests, and each subscriber starts its
 * own operation. Signals arrive on the engine's poller threads, which must not block; Reactor treats them as
 * non-blocking, so {@code block()} on one throws {@link IllegalStateException}. To leave them, use {@code publishOn},
 * or {@link ReactiveConnection#withScheduler} for all operations of a connection.
 *
 * <p>BlockHound, if it is installed, reports every blocking call on them; with Sluice on the module path it needs
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
     * Wraps an engine. Both interfaces may be used side by side.
     *
     * @param engine an open engine
     * @return the wrapper
     */
    public static ReactiveTransferEngine from(TransferEngine engine) {
        return new ReactiveTransferEngine(engine);
    }

    /**
     * Returns the wrapped engine.
     *
     * @return the engine
     */
    public TransferEngine engine() {
        return engine;
    }

    /**
     * Returns the address at which peers connect to this engine.
     *
     * @return the advertised host and the bound port, with the engine's identity
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
     * @throws RegistrationException if the memory is not available, or the name is taken
     */
    public MemoryRegion allocate(long bytes, RegionOptions options) {
        return engine.allocate(bytes, options);
    }

    /**
     * Registers memory of the caller, <strong>which must outlive the region</strong>; see {@link
     * TransferEngine#register}.
     *
     * @param segment native memory that every thread may access
     * @param options access and name
     * @return the region
     * @throws RegistrationException if the segment cannot be registered, or the name is taken
     */
    public MemoryRegion register(MemorySegment segment, RegionOptions options) {
        return engine.register(segment, options);
    }

    /**
     * Registers memory of the caller, of any kind that a transport registers, <strong>which must outlive the
     * region</strong>; see {@link TransferEngine#register(RegionMemory, RegionOptions)}.
     *
     * @param memory host or device memory
     * @param options access and name
     * @return the region
     * @throws RegistrationException if the memory cannot be registered, or the name is taken
     */
    public MemoryRegion register(RegionMemory memory, RegionOptions options) {
        return engine.register(memory, options);
    }

    /**
     * Opens a new connection.
     *
     * <p><strong>Cancel.</strong> A connection that no subscriber takes is closed again: one that is established after
     * the cancel, one that is being handed over when another thread cancels, and one that an operator drops as it
     * cancels, as {@code timeout} does at its limit. So {@code connect(address).timeout(limit)} leaves no connection
     * behind, even with operators such as {@code map}, {@code retry} or {@code onErrorResume} before it; nor do {@code
     * takeUntilOther} and the {@code dispose} of a {@code subscribe(consumer)}. {@code next} and {@code take}, which
     * cancel when they take a value, keep it.
     *
     * <p>Operators that hold values, merge sources or change the thread have taken the connection when {@code onNext}
     * returns: {@code zip}, {@code firstWithValue}, {@code firstWithSignal}, {@code switchMap} and {@code flatMap} of a
     * Flux, {@code publishOn}, {@code delayElement}, {@code cache}. Values that they drop later go to a {@code doOnDiscard}
     * after them; losers of {@code first...} that arrive at the same moment as the winner are lost. Put a {@code
     * timeout} before these operators. {@code Hooks.resetOnNextDropped} hides drops by {@code timeout} from this class.
     *
     * @param address the peer's address
     * @return the connection; or {@link ConnectFailedException} or another {@link SluiceException} within the connect
     *     time-out
     */
    public Mono<ReactiveConnection> connect(EngineAddress address) {
        return connect(address, ConnectOptions.defaults());
    }

    /**
     * Opens a new connection for each subscriber with options, such as a group whose loop it shares.
     *
     * @param address the peer's address
     * @param options the options
     * @return as {@link #connect(EngineAddress)}
     */
    public Mono<ReactiveConnection> connect(EngineAddress address, ConnectOptions options) {
        Objects.requireNonNull(address, "address");
        Objects.requireNonNull(options, "options");
        return ResourceMono.of(
                "connect",
                ReactiveConnection.class,
                () -> reactive(engine.connect(address, options)),
                unwanted -> unwanted.connection().close());
    }

    /**
     * Returns the cached connection to an address. The first subscriber connects, and later ones share the connection;
     * when it has ended, the next subscriber opens another. A cancel leaves it open.
     *
     * @param address the peer's address
     * @return as {@link #connect(EngineAddress)}
     */
    public Mono<ReactiveConnection> connection(EngineAddress address) {
        Objects.requireNonNull(address, "address");
        return FutureMono.of("connection", () -> reactive(engine.connection(address)));
    }

    /**
     * Writes many elements with default options, as {@link #writeVectored(List, TransferOptions)} does.
     *
     * @param elements copied
     * @return one result for each element
     */
    public Flux<TransferResult> writeVectored(List<TransferElement> elements) {
        return writeVectored(elements, TransferOptions.defaults());
    }

    /**
     * Writes many elements, as {@link #writeVectored(Publisher, TransferOptions)} does, but neighbours on one
     * connection share a transfer, as {@link ReactiveConnection#writeVectored(List)} describes.
     *
     * @param elements copied
     * @param options the options of each element
     * @return one result for each element
     */
    public Flux<TransferResult> writeVectored(List<TransferElement> elements, TransferOptions options) {
        return vectored(Direction.WRITE, elements, options);
    }

    /**
     * Writes each element that a publisher emits with default options, as {@link #writeVectored(Publisher,
     * TransferOptions)} does.
     *
     * @param elements the publisher, subscribed to once for each subscriber
     * @return one result for each element
     */
    public Flux<TransferResult> writeVectored(Publisher<TransferElement> elements) {
        return writeVectored(elements, TransferOptions.defaults());
    }

    /**
     * Writes each element that a publisher emits over the connection on which its remote region was attached: one batch
     * to many peers. Each element is a transfer with these options and its own result; a connection that ends fails
     * only its own elements.
     *
     * <p>Demand, results, end and cancel are as {@link ReactiveConnection#writeVectored(Publisher)} describes. As many
     * elements are requested ahead of the emitted results as fill the windows of the connections open at the
     * subscription, but at most this engine's window. Elements of a slow peer may come to occupy all of these places:
     * put what must not wait for it into a batch of its own.
     *
     * @param elements the publisher, subscribed to once for each subscriber
     * @param options the options of each element
     * @return one result for each element
     */
    public Flux<TransferResult> writeVectored(Publisher<TransferElement> elements, TransferOptions options) {
        return vectored(Direction.WRITE, elements, options);
    }

    /**
     * Reads many elements with default options, as {@link #writeVectored(List, TransferOptions)} writes them.
     *
     * @param elements copied
     * @return one result for each element
     */
    public Flux<TransferResult> readVectored(List<TransferElement> elements) {
        return readVectored(elements, TransferOptions.defaults());
    }

    /**
     * Reads many elements, as {@link #writeVectored(List, TransferOptions)} writes them.
     *
     * @param elements copied
     * @param options the options of each element
     * @return one result for each element
     */
    public Flux<TransferResult> readVectored(List<TransferElement> elements, TransferOptions options) {
        return vectored(Direction.READ, elements, options);
    }

    /**
     * Reads each element that a publisher emits with default options, as {@link #writeVectored(Publisher,
     * TransferOptions)} writes them.
     *
     * @param elements the publisher, subscribed to once for each subscriber
     * @return one result for each element
     */
    public Flux<TransferResult> readVectored(Publisher<TransferElement> elements) {
        return readVectored(elements, TransferOptions.defaults());
    }

    /**
     * Reads each element that a publisher emits, as {@link #writeVectored(Publisher, TransferOptions)} writes them.
     *
     * @param elements the publisher, subscribed to once for each subscriber
     * @param options the options of each element
     * @return one result for each element
     */
    public Flux<TransferResult> readVectored(Publisher<TransferElement> elements, TransferOptions options) {
        return vectored(Direction.READ, elements, options);
    }

    /**
     * Waits, without a thread, until a counter in one of this process's regions reaches a minimum. The wait begins when
     * the subscriber requests, and a cancel removes it; bound it with {@code timeout} if the update may never come.
     *
     * @param signal the counter; see {@link MemoryRegion#signal(long)}
     * @param value the minimum
     * @return the value that was seen, on the thread that made the update, usually a poller's, or on the requesting
     *     thread; {@link RegionClosedException} if the region closes first
     */
    public static Mono<Long> awaitAtLeast(Signal signal, long value) {
        return SignalMono.of(signal, value);
    }

    /**
     * Returns the connections that peers open, beginning with those already open. Peers can connect even if there is no
     * subscriber. A subscriber that lags by more than {@link EngineOptions#maxConnections()} connections fails with an
     * overflow error.
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
     * Closes the engine gracefully, after the transfers in flight have ended; see {@link TransferEngine#shutdown}.
     *
     * @param patience the longest time to wait for them, 0 or more
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
     * Closes all connections, then the regions, then the pollers.
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
