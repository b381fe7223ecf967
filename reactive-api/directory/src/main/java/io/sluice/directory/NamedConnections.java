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
 * Connects to engines by their names in a directory. A connection is handed out only if the engine at its other end is the
 * one, and the run of it, that the directory names. Instances are immutable; all methods may be called from any thread.
 */
public final class NamedConnections {
    private static final Logger LOG = LoggerFactory.getLogger(NamedConnections.class);

    /** Reactor's key for what happens to an error that comes after a cancel. */
    private static final String ON_ERROR_DROPPED = "reactor.onErrorDropped.local";

    /** The engine to which an entry led may be gone, and the entry with it: an attempt that was given up then fails unheard. */
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
     * Connections of an engine to those that a directory names.
     *
     * @param directory where names are looked up
     * @param engine that connects
     * @param options how to try again: pauses and the number of failures; what waits, and the circuit breaker, are of no concern here
     * @return connects when asked to
     */
    public static NamedConnections of(Directory directory, ReactiveTransferEngine engine, ReconnectOptions options) {
        return new NamedConnections(directory, engine, options);
    }

    /**
     * Makes one connection to the engine that has a name now, and does not try again.
     *
     * @param name the engine's
     * @return the connection, which is the caller's to close; or {@link EngineNotFoundException},
     *     {@link DirectoryUnavailableException}, {@link StaleEntryException}, or what
     *     {@link ReactiveTransferEngine#connect} fails with. After a cancel or a {@code timeout} none stays open, as far as
     *     is told there
     */
    public Mono<ReactiveConnection> connect(String name) {
        return directory.find(name).flatMap(this::connect);
    }

    /**
     * Stays connected to the engine that has a name: waits for the name to appear, connects, and connects again when the
     * connection ends or the name belongs to another engine or another run. Each connection is emitted when it is made, and
     * the one before it has ended or is being closed by then.
     *
     * <p>While the directory does not answer, or when the entry merely disappears, a connection that works is left alone; one
     * that has ended is not replaced until the name is back. A change of the regions alone changes nothing.
     *
     * <p>Failures that repeat are logged as a warning with their reason, at most every half minute. Two kinds end the Flux, as
     * trying again does not mend them: the other engine does not accept this one's proof, or asks for another kind
     * ({@link io.sluice.engine.AuthenticationException}, three times in a row), and this engine is closed
     * ({@link io.sluice.engine.ConnectionClosedException}).
     *
     * <p>The connections belong to this Flux: it closes them, also when it is cancelled. Transfers that run then end as
     * {@link Connection#close()} tells.
     *
     * @param name the engine's
     * @return one connection after the other, without end; or an error that trying again does not mend; or what the last attempt
     *     failed with, or its connection ended with, if the options limit their number
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
