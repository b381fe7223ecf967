package io.sluice.reactor.recovery;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.OutcomeUnknownException;
import io.sluice.engine.RegionDescriptor;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A connection to one peer that is opened again whenever it ends, with growing pauses, until this object is closed.
 *
 * <p><strong>Operations in flight at a break</strong> end as on any connection: with {@link OutcomeUnknownException} if
 * they may have changed the peer's memory, otherwise with {@link io.sluice.engine.ConnectionLostException}. Nothing is
 * ever submitted twice; the caller decides what to repeat, by {@code retryWhen}.
 *
 * <p><strong>Operations subscribed without a connection</strong> wait for the next, for at most {@link
 * ReconnectOptions#maxWait()} and at most {@link ReconnectOptions#maxWaiting()} at a time, and otherwise end with
 * {@link NotConnectedException}. While the circuit breaker is open they end immediately with {@link
 * CircuitOpenException}.
 *
 * <p>All methods may be called from any thread. Signals arrive on a poller, on a timer's thread, or on the subscribing
 * thread; subscribers must not block. While there is a connection, a transfer costs one volatile read more than on the
 * connection itself.
 */
public final class ReconnectingConnection {
    private final ConnectionCycle cycle;
    private final ReconnectOptions options;
    private final LongSupplier nanoTime;

    private ReconnectingConnection(Mono<ReactiveConnection> connect, ReconnectOptions options, LongSupplier nanoTime) {
        this.cycle = new ConnectionCycle(connect, options, nanoTime);
        this.options = options;
        this.nanoTime = nanoTime;
    }

    /**
     * Returns a connection to the engine that answers at an address. It is opened when it is first needed or {@link
     * #start started}.
     *
     * @param engine the engine that connects
     * @param address the peer's address. With an engine's identity another run of the peer is refused: omit it ({@link
     *     EngineAddress#of}) if the peer may restart
     * @param options pauses and bounds
     * @return the connection, not opened yet
     */
    public static ReconnectingConnection to(
            ReactiveTransferEngine engine, EngineAddress address, ReconnectOptions options) {
        return over(engine.connect(address), options);
    }

    /**
     * Returns a connection that the caller opens, such as one by name in a directory.
     *
     * @param connect subscribed to for each attempt; must end by itself. This object closes the connections
     * @param options pauses and bounds
     * @return the connection, not opened yet
     */
    public static ReconnectingConnection over(Mono<ReactiveConnection> connect, ReconnectOptions options) {
        return over(connect, options, System::nanoTime);
    }

    static ReconnectingConnection over(
            Mono<ReactiveConnection> connect, ReconnectOptions options, LongSupplier nanoTime) {
        Objects.requireNonNull(connect, "connect");
        Objects.requireNonNull(options, "options");
        return new ReconnectingConnection(connect, options, nanoTime);
    }

    /**
     * Connects now, without waiting for the first use.
     *
     * @return this
     */
    public ReconnectingConnection start() {
        cycle.start();
        return this;
    }

    /**
     * Returns the open connection, or the next one.
     *
     * @return the connection, which the subscriber must not close; or {@link NotConnectedException}, {@link
     *     CircuitOpenException}, {@link io.sluice.engine.ConnectionClosedException} if this is closed
     */
    public Mono<ReactiveConnection> connection() {
        return cycle.connection();
    }

    /**
     * Runs an operation over the connection that is open at the subscription, or the next one.
     *
     * @param operation called for each subscriber
     * @param <T> the type of the result
     * @return the operation's result; errors also as for {@link #connection()}
     */
    public <T> Mono<T> mono(Function<? super ReactiveConnection, ? extends Mono<T>> operation) {
        Objects.requireNonNull(operation, "operation");
        return Mono.defer(() -> {
            ReactiveConnection now = cycle.openNow();
            return now != null ? operation.apply(now) : cycle.connection().flatMap(operation);
        });
    }

    /**
     * Runs operations over the connection that is open at the subscription, or the next one, as {@link #mono} does.
     *
     * @param operation called for each subscriber
     * @param <T> the type of the results
     * @return the operation's result; errors also as for {@link #connection()}
     */
    public <T> Flux<T> flux(Function<? super ReactiveConnection, ? extends Flux<T>> operation) {
        Objects.requireNonNull(operation, "operation");
        return Flux.defer(() -> {
            ReactiveConnection now = cycle.openNow();
            return now != null ? operation.apply(now) : cycle.connection().flatMapMany(operation);
        });
    }

    /**
     * Returns each connection when it is opened, beginning with the latest one. Use it for what must be repeated on
     * each connection, such as listening for notifications ({@code
     * connections().switchMap(ReactiveConnection::notifications)}, with the errors of a connection's end suppressed).
     * Subscribing starts the connection.
     *
     * @return completes when this object is closed; {@link NotConnectedException} when it gives up
     */
    public Flux<ReactiveConnection> connections() {
        return cycle.connections().doOnSubscribe(subscription -> cycle.start());
    }

    /**
     * Returns a region of the peer by name, looked up and attached again on each connection.
     *
     * @param name the name that the peer gave its region
     * @return the region, not attached yet
     */
    public ReconnectingRegion region(String name) {
        Objects.requireNonNull(name, "name");
        return region(connection -> connection.lookup(name));
    }

    /**
     * Returns a region of the peer that is attached again on each connection.
     *
     * @param descriptor supplies the descriptor for each new connection, as descriptors of a peer's earlier run are
     *     refused
     * @return the region, not attached yet
     */
    public ReconnectingRegion region(
            Function<? super ReactiveConnection, ? extends Mono<RegionDescriptor>> descriptor) {
        Objects.requireNonNull(descriptor, "descriptor");
        return new ReconnectingRegion(this, descriptor, options, nanoTime);
    }

    /**
     * Returns the current state.
     *
     * @return the state
     */
    public ReconnectingState state() {
        return cycle.state();
    }

    /**
     * Returns the state of the circuit breaker.
     *
     * @return the state
     */
    public CircuitState circuitState() {
        return cycle.breaker().state();
    }

    /**
     * Returns how often the circuit has opened.
     *
     * @return a count that only grows
     */
    public long circuitsOpened() {
        return cycle.breaker().opened();
    }

    /**
     * Returns how many connections were opened, including the first.
     *
     * @return a count that only grows
     */
    public long connectionsMade() {
        return cycle.made();
    }

    /**
     * Returns the events from the subscription on. A subscriber without demand misses events.
     *
     * @return completes when this object is closed or gives up
     */
    public Flux<Reconnection> events() {
        return cycle.events();
    }

    /**
     * Closes the connection and opens no other. Waiting subscribers end with {@link
     * io.sluice.engine.ConnectionClosedException}.
     *
     * @return completes when the last connection is closed
     */
    public Mono<Void> close() {
        return cycle.close();
    }

    @Nullable
    ReactiveConnection openNow() {
        return cycle.openNow();
    }
}
