package io.sluice.reactor.recovery;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.reactor.ReactiveConnection;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;
import reactor.util.Logger;
import reactor.util.Loggers;

/**
 * Keeps a connection to a peer, one after another. Events run as tasks, one at a time, so state needs no lock; a caller
 * that finds an open connection reads one volatile field.
 */
final class ConnectionCycle {
    private static final Logger LOG = Loggers.getLogger(ConnectionCycle.class);

    private final Mono<ReactiveConnection> connect;
    private final ReconnectOptions options;
    private final LongSupplier nanoTime;
    private final CircuitBreaker breaker;
    private final SerialTasks tasks = new SerialTasks();
    private final WaitingSubscribers waiting = new WaitingSubscribers();
    private final Sinks.Many<Reconnection> events = Sinks.many().multicast().directBestEffort();
    private final Sinks.Many<ReactiveConnection> connections =
            Sinks.many().replay().latest();
    private final Sinks.Empty<Void> closed = Sinks.empty();
    private final AtomicLong made = new AtomicLong();
    private final Disposable.Swap attempt = Disposables.swap();
    private final Disposable.Swap probe = Disposables.swap();

    private volatile @Nullable ReactiveConnection current;
    private volatile ReconnectingState state = ReconnectingState.IDLE;
    private int failures;
    private long upSince;
    private long downSince;
    private @Nullable Throwable lastFailure;

    ConnectionCycle(Mono<ReactiveConnection> connect, ReconnectOptions options, LongSupplier nanoTime) {
        this.connect = connect;
        this.options = options;
        this.nanoTime = nanoTime;
        this.breaker = new CircuitBreaker(options.circuitBreaker(), nanoTime);
    }

    /** Returns the connection, if there is one that accepts new transfers. */
    @Nullable
    ReactiveConnection openNow() {
        ReactiveConnection now = current;
        return now != null && now.connection().state() == ConnectionState.OPEN ? now : null;
    }

    /** Returns the open connection, or the next one. */
    Mono<ReactiveConnection> connection() {
        return Mono.defer(() -> {
            ReactiveConnection now = openNow();
            if (now != null) {
                return Mono.just(now);
            }
            if (state == ReconnectingState.CLOSED) {
                return elsewhere(closedHere());
            }
            return Mono.<ReactiveConnection>create(sink -> tasks.run(() -> await(sink)))
                    .onErrorResume(ConnectionCycle::elsewhere);
        });
    }

    /**
     * Signals an error on another thread than the one that runs the tasks: a subscriber that retries in its error
     * signal would occupy that thread, possibly a poller, as long as the error lasts.
     */
    private static <T> Mono<T> elsewhere(Throwable error) {
        return Mono.<T>error(error).subscribeOn(Schedulers.parallel());
    }

    ReconnectingState state() {
        return state;
    }

    long made() {
        return made.get();
    }

    CircuitBreaker breaker() {
        return breaker;
    }

    Flux<Reconnection> events() {
        return events.asFlux();
    }

    Flux<ReactiveConnection> connections() {
        return connections.asFlux().onErrorResume(ConnectionCycle::elsewhere);
    }

    void start() {
        tasks.run(this::startOnce);
    }

    Mono<Void> close() {
        return Mono.defer(() -> {
            tasks.run(this::closeOnce);
            return closed.asMono();
        });
    }

    private void startOnce() {
        if (state == ReconnectingState.IDLE) {
            downSince = nanoTime.getAsLong();
            dialAfter(Duration.ZERO);
        }
    }

    private void closeOnce() {
        if (state == ReconnectingState.CLOSED) {
            return;
        }
        state = ReconnectingState.CLOSED;
        attempt.dispose();
        probe.dispose();
        ReactiveConnection last = current;
        current = null;
        // first, as it must not wait for subscribers that react to the end
        if (last == null) {
            closed.tryEmitEmpty();
        } else {
            last.close().subscribe(nothing -> {}, closed::tryEmitError, closed::tryEmitEmpty);
        }
        waiting.tellAll(subscriber -> subscriber.error(closedHere()));
        events.tryEmitComplete();
        connections.tryEmitComplete();
    }

    private void await(MonoSink<ReactiveConnection> subscriber) {
        ReactiveConnection now = openNow();
        if (now != null) {
            subscriber.success(now);
        } else if (state == ReconnectingState.CLOSED) {
            subscriber.error(closedHere());
        } else if (state == ReconnectingState.GIVEN_UP) {
            subscriber.error(new NotConnectedException(
                    "connecting was given up after " + failures + " failures in a row", lastFailure));
        } else if (breaker.state() == CircuitState.OPEN) {
            subscriber.error(circuitOpen());
        } else {
            startOnce();
            enqueue(subscriber);
        }
    }

    private void enqueue(MonoSink<ReactiveConnection> subscriber) {
        if (options.maxWait().isZero()) {
            subscriber.error(new NotConnectedException("there is no connection at the moment", lastFailure));
        } else if (waiting.size() >= options.maxWaiting()) {
            subscriber.error(new NotConnectedException(
                    "there is no connection, and " + waiting.size() + " wait for one already", lastFailure));
        } else {
            waiting.add(subscriber, options.maxWait(), () -> tasks.run(() -> expire(subscriber)));
            subscriber.onCancel(() -> tasks.run(() -> waiting.remove(subscriber)));
        }
    }

    private void expire(MonoSink<ReactiveConnection> subscriber) {
        if (waiting.remove(subscriber)) {
            subscriber.error(
                    new NotConnectedException("there was no connection within " + options.maxWait(), lastFailure));
        }
    }

    private void dialAfter(Duration pause) {
        state = ReconnectingState.CONNECTING;
        attempt.update(Mono.delay(pause)
                .then(Mono.defer(this::dial))
                .subscribe(
                        connection -> tasks.run(() -> connected(connection)), error -> tasks.run(() -> failed(error))));
    }

    private Mono<ReactiveConnection> dial() {
        // Its open time is over, as the pause was as long.
        breaker.tryAcquire();
        return connect.switchIfEmpty(Mono.error(() -> new ConnectFailedException(
                "the publisher that connects completed without a connection; it must emit one")));
    }

    private void connected(ReactiveConnection connection) {
        if (state == ReconnectingState.CLOSED) {
            connection.close().subscribe(nothing -> {}, ignored -> {});
            return;
        }
        upSince = nanoTime.getAsLong();
        made.incrementAndGet();
        current = connection;
        state = ReconnectingState.CONNECTED;
        if (breaker.state() == CircuitState.HALF_OPEN) {
            probe.update(Mono.delay(options.circuitBreaker().probeTime())
                    .subscribe(over -> tasks.run(() -> probed(connection))));
        }
        connection
                .ended()
                .subscribe(
                        nothing -> {},
                        error -> tasks.run(() -> ended(connection, error)),
                        () -> tasks.run(() -> ended(
                                connection,
                                new ConnectionLostException("the connection was closed by this side or the peer"))));
        events.tryEmitNext(new Reconnection.Connected(connection, failures, Duration.ofNanos(upSince - downSince)));
        connections.tryEmitNext(connection);
        waiting.tellAll(subscriber -> subscriber.success(connection));
    }

    private void probed(ReactiveConnection connection) {
        if (current == connection && connection.connection().state() == ConnectionState.OPEN) {
            breaker.succeeded();
            events.tryEmitNext(new Reconnection.CircuitClosed());
        }
    }

    private void ended(ReactiveConnection connection, Throwable error) {
        if (current != connection) {
            return;
        }
        current = null;
        downSince = nanoTime.getAsLong();
        Duration lasted = Duration.ofNanos(downSince - upSince);
        // A connection that repeatedly ends at once is no better than a refused one.
        failures = lasted.compareTo(options.maxBackoff()) >= 0 ? 0 : failures + 1;
        again(error, pause -> new Reconnection.Lost(error, lasted, pause));
    }

    private void failed(Throwable error) {
        if (state == ReconnectingState.CONNECTING) {
            failures++;
            again(error, pause -> new Reconnection.AttemptFailed(error, failures, pause));
        }
    }

    private void again(Throwable error, Function<Duration, Reconnection> event) {
        lastFailure = error;
        breaker.failed();
        // the second, fourth, eighth and so on, as the reason may stay for days
        if (failures > 1 && Integer.bitCount(failures) == 1) {
            LOG.warn("connecting failed {} times in a row; the last time: {}", failures, error.toString());
        }
        if (options.maxFailures() > 0 && failures >= options.maxFailures()) {
            giveUp(error, event.apply(Duration.ZERO));
            return;
        }
        Duration pause = options.pauseAfter(Math.max(1, failures));
        Duration refused = breaker.remaining();
        boolean open = refused.compareTo(Duration.ZERO) > 0;
        // added, not a replacement: peers whose circuits opened at the same time must not all return at the same time
        Duration whole = open ? refused.plus(pause) : pause;
        dialAfter(whole);
        events.tryEmitNext(event.apply(whole));
        if (open) {
            events.tryEmitNext(new Reconnection.CircuitOpened(error, whole));
            waiting.tellAll(subscriber -> subscriber.error(circuitOpen()));
        }
    }

    private void giveUp(Throwable error, Reconnection last) {
        state = ReconnectingState.GIVEN_UP;
        events.tryEmitNext(last);
        events.tryEmitNext(new Reconnection.GivenUp(error));
        events.tryEmitComplete();
        NotConnectedException given =
                new NotConnectedException("connecting was given up after " + failures + " failures in a row", error);
        connections.tryEmitError(given);
        waiting.tellAll(subscriber -> subscriber.error(given));
    }

    private CircuitOpenException circuitOpen() {
        Duration remaining = breaker.remaining();
        return new CircuitOpenException(
                "the peer has failed so often that no attempt is made for " + remaining.toMillis() + " ms more",
                remaining,
                lastFailure);
    }

    private static ConnectionClosedException closedHere() {
        return new ConnectionClosedException("the reconnecting connection is closed");
    }
}
