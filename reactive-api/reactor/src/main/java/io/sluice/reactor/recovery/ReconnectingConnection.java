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
 * A connection to one peer that is made again whenever it has ended, with pauses that grow, until this is closed.
 *
 * <p><strong>What is in flight at a break</strong> ends as it does on any connection: with {@link OutcomeUnknownException} what
 * may have changed the peer's memory, with {@link io.sluice.engine.ConnectionLostException} all else. Nothing is ever submitted
 * twice; to repeat what may be repeated is the caller's decision, by {@code retryWhen}.
 *
 * <p><strong>What is subscribed while there is no connection</strong> waits for the next, at most
 * {@link ReconnectOptions#maxWait()} and {@link ReconnectOptions#maxWaiting()} at a time, and ends with
 * {@link NotConnectedException} otherwise; at once with {@link CircuitOpenException} while the peer has failed so often that it
 * is left alone.
 *
 * <p>All methods may be called from any thread. Signals come on a poller, on the thread of a timer, or on the subscribing thread;
 * subscribers must not block. While there is a connection, a transfer costs one look at it more than on the connection itself.
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
     * A connection to whichever engine answers at an address, made when it is first needed, or {@link #start started}.
     *
     * @param engine that connects
     * @param address of the peer. With an engine's identity another run of the peer is refused: leave it out
     *     ({@link EngineAddress#of}) if the peer may restart
     * @param options pauses and bounds
     * @return not connected yet
     */
    public static ReconnectingConnection to(
            ReactiveTransferEngine engine, EngineAddress address, ReconnectOptions options) {
        return over(engine.connect(address), options);
    }

    /**
     * A connection that is made in a way of the caller's, such as one by name in a directory.
     *
     * @param connect subscribed for each attempt; the connection is this one's to close. It must end by itself
     * @param options pauses and bounds
     * @return not connected yet
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
     * Connects now, and does not wait for the first use.
     *
     * @return this
     */
    public ReconnectingConnection start() {
        cycle.start();
        return this;
    }

    /**
     * The connection that is open, or the next one.
     *
     * @return the connection, which is not the subscriber's to close; or {@link NotConnectedException},
     *     {@link CircuitOpenException}, {@link io.sluice.engine.ConnectionClosedException} if this is closed
     */
    public Mono<ReactiveConnection> connection() {
        return cycle.connection();
    }

    /**
     * One operation over the connection that is open at the subscription, or the next one.
     *
     * @param operation called for each subscriber
     * @param <T> of its result
     * @return what the operation gives; or errors as of {@link #connection()}
     */
    public <T> Mono<T> mono(Function<? super ReactiveConnection, ? extends Mono<T>> operation) {
        Objects.requireNonNull(operation, "operation");
        return Mono.defer(() -> {
            ReactiveConnection now = cycle.openNow();
            return now != null ? operation.apply(now) : cycle.connection().flatMap(operation);
        });
    }

    /**
     * Operations over the connection that is open at the subscription, or the next one; as {@link #mono}.
     *
     * @param operation called for each subscriber
     * @param <T> of its results
     * @return what the operation gives; or errors as of {@link #connection()}
     */
    public <T> Flux<T> flux(Function<? super ReactiveConnection, ? extends Flux<T>> operation) {
        Objects.requireNonNull(operation, "operation");
        return Flux.defer(() -> {
            ReactiveConnection now = cycle.openNow();
            return now != null ? operation.apply(now) : cycle.connection().flatMapMany(operation);
        });
    }

    /**
     * Each connection as it is made, first of the last one: for what must be done again on each, such as to listen for
     * notifications ({@code connections().switchMap(ReactiveConnection::notifications)}, with the errors of a connection's end
     * left out). Subscribing starts it.
     *
     * @return until this is closed; or {@link NotConnectedException} when it gives up
     */
    public Flux<ReactiveConnection> connections() {
        return cycle.connections().doOnSubscribe(subscription -> cycle.start());
    }

    /**
     * A region of the peer by its name, looked up and attached again on each connection.
     *
     * @param name as the peer gave it to its region
     * @return nothing is attached yet
     */
    public ReconnectingRegion region(String name) {
        Objects.requireNonNull(name, "name");
        return region(connection -> connection.lookup(name));
    }

    /**
     * A region of the peer, attached again on each connection.
     *
     * @param descriptor gives the descriptor on each new connection: that of a peer's earlier run is refused
     * @return nothing is attached yet
     */
    public ReconnectingRegion region(
            Function<? super ReactiveConnection, ? extends Mono<RegionDescriptor>> descriptor) {
        Objects.requireNonNull(descriptor, "descriptor");
        return new ReconnectingRegion(this, descriptor, options, nanoTime);
    }

    /**
     * Where it stands.
     *
     * @return now
     */
    public ReconnectingState state() {
        return cycle.state();
    }

    /**
     * Whether the peer is left alone.
     *
     * @return now
     */
    public CircuitState circuitState() {
        return cycle.breaker().state();
    }

    /**
     * How often the circuit has opened.
     *
     * @return only ever grows
     */
    public long circuitsOpened() {
        return cycle.breaker().opened();
    }

    /**
     * How many connections were made, the first one included.
     *
     * @return only ever grows
     */
    public long connectionsMade() {
        return cycle.made();
    }

    /**
     * What happens, from the subscription on. A subscriber that has not asked for more misses what happens meanwhile.
     *
     * @return until this is closed, or gives up
     */
    public Flux<Reconnection> events() {
        return cycle.events();
    }

    /**
     * Closes the connection, and makes no other. What waits ends with {@link io.sluice.engine.ConnectionClosedException}.
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
