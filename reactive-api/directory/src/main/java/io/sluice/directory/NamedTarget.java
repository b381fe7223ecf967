package io.sluice.directory;

import io.sluice.engine.AuthenticationException;
import io.sluice.engine.ConnectionClosedException;
import io.sluice.engine.ConnectionLostException;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.recovery.ReconnectOptions;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Keeps one subscriber connected to the engine that has a name. */
final class NamedTarget {
    private static final Logger LOG = LoggerFactory.getLogger(NamedTarget.class);

    /**
     * A single rejection may result from an interrupted handshake or a token rotation; repeated ones are a
     * misconfiguration.
     */
    private static final int MOST_REFUSALS = 3;

    private final Directory directory;
    private final String name;
    private final ReconnectOptions options;
    private final Function<EngineEntry, Mono<ReactiveConnection>> connect;
    /** Whether the name is in the directory, as far as is known. */
    private final Sinks.Many<Boolean> presence = Sinks.many().replay().latestOrDefault(false);

    private final RepeatedFailures log;
    /** The open connections: a cancel may arrive while one is being emitted, when no subscriber receives it. */
    private final Set<ReactiveConnection> made = ConcurrentHashMap.newKeySet();

    private volatile boolean over;
    /** Failures in a row. The attempts of one subscriber are serial. */
    private volatile int failures;
    /** Authentication failures among them, in a row. */
    private volatile int refusals;

    NamedTarget(
            Directory directory,
            String name,
            ReconnectOptions options,
            Function<EngineEntry, Mono<ReactiveConnection>> connect) {
        this.directory = directory;
        this.name = name;
        this.options = options;
        this.connect = connect;
        this.log = new RepeatedFailures(LOG, "'" + name + "' cannot be connected to");
    }

    Flux<ReactiveConnection> connections() {
        return directory
                .watch(name)
                .concatMap(event -> Mono.justOrEmpty(entryOf(event)), 1)
                .distinctUntilChanged(entry -> entry, NamedTarget::isSameEngine)
                .doOnNext(entry -> {
                    failures = 0;
                    refusals = 0;
                })
                .switchMap(this::connectedTo)
                .doFinally(signal -> closeAll());
    }

    private void closeAll() {
        over = true;
        made.forEach(connection -> close(connection).subscribe());
    }

    private Mono<Void> close(ReactiveConnection connection) {
        return Mono.defer(() -> {
            made.remove(connection);
            return connection.close().onErrorComplete();
        });
    }

    private Mono<ReactiveConnection> connectTo(EngineEntry entry) {
        return connect.apply(entry).doOnNext(connection -> {
            refusals = 0;
            made.add(connection);
            if (over) {
                close(connection).subscribe();
            }
        });
    }

    private static boolean isSameEngine(EngineEntry one, EngineEntry other) {
        return one.isSameRun(other) && one.address().equals(other.address());
    }

    /** Records whether the name is there, and filters its events: other names may share the prefix. */
    private Optional<EngineEntry> entryOf(DirectoryEvent event) {
        return switch (event) {
            case DirectoryEvent.Snapshot snapshot -> {
                Optional<EngineEntry> found = snapshot.entries().stream()
                        .filter(entry -> entry.name().equals(name))
                        .findFirst();
                presence.tryEmitNext(found.isPresent());
                yield found;
            }
            case DirectoryEvent.Published published -> present(published.entry());
            case DirectoryEvent.Changed changed -> present(changed.entry());
            case DirectoryEvent.Removed removed -> absent(removed.previous().name());
            case DirectoryEvent.Damaged damaged -> absent(damaged.name());
            case DirectoryEvent.Interrupted interrupted -> Optional.empty();
        };
    }

    private Optional<EngineEntry> present(EngineEntry entry) {
        if (!entry.name().equals(name)) {
            return Optional.empty();
        }
        presence.tryEmitNext(true);
        return Optional.of(entry);
    }

    private Optional<EngineEntry> absent(String gone) {
        if (gone.equals(name)) {
            presence.tryEmitNext(false);
        }
        return Optional.empty();
    }

    /** Connects repeatedly to one epoch of one engine. */
    private Flux<ReactiveConnection> connectedTo(EngineEntry entry) {
        return Flux.defer(() -> cycle(entry)).repeat();
    }

    /** Connects if the name is there; lasts as long as the connection. */
    private Flux<ReactiveConnection> cycle(EngineEntry entry) {
        Mono<?> pause = failures == 0 ? Mono.empty() : Mono.delay(options.pauseAfter(failures));
        Mono<ReactiveConnection> attempt = pause.then(
                        presence.asFlux().filter(there -> there).next())
                .then(Mono.defer(() -> connectTo(entry)))
                .onErrorResume(this::notConnected);
        return Flux.usingWhen(
                attempt, connection -> Flux.concat(Mono.just(connection), untilEnded(connection)), this::close);
    }

    private Mono<ReactiveConnection> untilEnded(ReactiveConnection connection) {
        return Mono.defer(() -> {
            long since = System.nanoTime();
            Mono<ReactiveConnection> end = connection
                    .ended()
                    .then(Mono.<ReactiveConnection>error(
                            () -> new ConnectionLostException("the connection to '" + name + "' was closed")))
                    .onErrorResume(error -> ended(Duration.ofNanos(System.nanoTime() - since), error));
            return Mono.using(
                    () -> Mono.delay(options.maxBackoff()).subscribe(hasLasted -> log.succeeded()),
                    timer -> end,
                    Disposable::dispose);
        });
    }

    /** A connection that ends at once counts as a failure. */
    private Mono<ReactiveConnection> ended(Duration after, Throwable error) {
        if (after.compareTo(options.maxBackoff()) < 0) {
            return failed(error);
        }
        failures = 0;
        return Mono.empty();
    }

    /** An error that retrying cannot fix ends everything. */
    private Mono<ReactiveConnection> notConnected(Throwable error) {
        refusals = error instanceof AuthenticationException ? refusals + 1 : 0;
        boolean isHere = error instanceof ConnectionClosedException;
        return isHere || refusals >= MOST_REFUSALS ? Mono.error(error) : failed(error);
    }

    /** Empty unless the limit of failures is reached. */
    private Mono<ReactiveConnection> failed(Throwable error) {
        int failed = failures + 1;
        failures = failed;
        log.failed(error);
        return options.maxFailures() > 0 && failed >= options.maxFailures() ? Mono.error(error) : Mono.empty();
    }
}
