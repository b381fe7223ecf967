package io.sluice.directory;

import io.sluice.engine.Connection;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.reactor.recovery.ReconnectOptions;
import java.util.Objects;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Connections to engines by their names in a directory. A connection is emitted only if the engine at its other end has
 * the identity and epoch of the directory's entry. Immutable; all methods may be called from any thread.
 */
public final class NamedConnections {
    private static final Logger LOG = LoggerFactory.getLogger(NamedConnections.class);

    /** Reactor's context key for the handler of errors that arrive after a cancel. */
    static final String ON_ERROR_DROPPED = "reactor.onErrorDropped.local";

    /**
     * The engine of an entry may be gone along with the entry: an abandoned attempt then fails without a subscriber.
     */
    private static final Consumer<Throwable> IGNORED =
            error -> LOG.debug("A connection attempt failed after its subscriber had gone", error);

    private final Directory directory;
    private final ReactiveTransferEngine engine;
    private final ReconnectOptions options;

    private NamedConnections(Directory directory, ReactiveTransferEngine engine, ReconnectOptions options) {
        this.directory = Objects.requireNonNull(directory, "directory");
        this.engine = Objects.requireNonNull(engine, "engine");
        this.options = Objects.requireNonNull(options, "options");
    }

    /**
     * Creates connections of an engine to the engines in a directory.
     *
     * @param directory the directory for look-ups
     * @param engine the engine that connects
     * @param options the backoff and the number of failures; its waiting limit and circuit breaker are not used
     * @return the connections; nothing happens before a subscription
     */
    public static NamedConnections of(Directory directory, ReactiveTransferEngine engine, ReconnectOptions options) {
        return new NamedConnections(directory, engine, options);
    }

    /**
     * Connects once to the engine that has a name now, without retrying.
     *
     * @param name the engine's name
     * @return the connection, which the caller closes; or {@link EngineNotFoundException}, {@link
     *     DirectoryUnavailableException}, {@link StaleEntryException}, or an error of {@link
     *     ReactiveTransferEngine#connect}, which also describes what a cancel or {@code timeout} leaves open
     */
    public Mono<ReactiveConnection> connect(String name) {
        return directory.find(name).flatMap(this::connect);
    }

    /**
     * Stays connected to the engine that has a name: waits for the name to appear, connects, and connects again when
     * the connection ends or the name belongs to another engine or epoch. Emits each connection when it is established;
     * the one before has ended by then or is being closed.
     *
     * <p>While the directory does not answer, or if only the entry disappears, a working connection stays open; one
     * that has ended is not replaced until the name is back. A change of the regions alone has no effect.
     *
     * <p>Repeated failures are logged as a warning with their reason, at most every half minute. Two failures end the
     * Flux, because retrying cannot fix them: the other engine rejects this one's authentication or requires another
     * kind ({@link io.sluice.engine.AuthenticationException}, three times in a row), and this engine is closed ({@link
     * io.sluice.engine.ConnectionClosedException}).
     *
     * <p>This Flux owns the connections and closes them, also on a cancel. Their running transfers then end as {@link
     * Connection#close()} describes.
     *
     * @param name the engine's name
     * @return one connection after the other, unbounded; or an error that retrying cannot fix; or, if the options limit
     *     the failures, the error of the last attempt or connection
     */
    public Flux<ReactiveConnection> connections(String name) {
        Names.check(name);
        return Flux.defer(() -> new NamedTarget(directory, name, options, this::connect).connections());
    }

    private Mono<ReactiveConnection> connect(EngineEntry entry) {
        return engine.connect(entry.address())
                .flatMap(connection -> {
                    Connection made = connection.connection();
                    if (made.peer().equals(entry.engineId()) && made.peerEpoch() == entry.epoch()) {
                        return Mono.just(connection);
                    }
                    return connection
                            .close()
                            .onErrorComplete()
                            .then(Mono.error(() -> new StaleEntryException("the engine at " + entry.address()
                                    + " is another run than the one that the directory names '" + entry.name() + "'")));
                })
                .contextWrite(context -> context.put(ON_ERROR_DROPPED, IGNORED));
    }
}
