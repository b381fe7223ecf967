package io.sluice.engine.bootstrap;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.ConnectOptions;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.LoopGroup;
import io.sluice.engine.TransportUnavailableException;
import io.sluice.engine.progress.Poller;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An attempt to connect. If the chosen transport proves unusable between the two engines, another attempt follows
 * without it.
 */
public final class ConnectAttempt {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectAttempt.class);

    private final BootstrapContext engine;
    private final EngineAddress target;
    private final ConnectOptions options;
    private final Set<String> without;
    private final Set<String> notAdded;
    private final CompletableFuture<Connection> result;
    private final CompletableFuture<Connection> opened = new CompletableFuture<>();
    private volatile @Nullable String transport;

    private ConnectAttempt(
            BootstrapContext engine,
            EngineAddress target,
            ConnectOptions options,
            Set<String> without,
            Set<String> notAdded,
            CompletableFuture<Connection> result) {
        this.engine = engine;
        this.target = target;
        this.options = options;
        this.without = without;
        this.notAdded = notAdded;
        this.result = result;
        opened.whenComplete(this::ended);
    }

    /** Tries with all transports and completes the future with the result. */
    public static void begin(
            BootstrapContext engine,
            EngineAddress target,
            ConnectOptions options,
            CompletableFuture<Connection> result) {
        new ConnectAttempt(engine, target, options, Set.of(), Set.of(), result).begin();
    }

    private void begin() {
        LoopGroup group = options.group();
        Poller home = group == null
                ? engine.sessions().nextPoller()
                : engine.sessions().homeOf(group);
        home.execute(() -> OutgoingBootstrap.begin(engine, home, target, this));
    }

    ConnectOptions options() {
        return options;
    }

    CompletableFuture<Connection> opened() {
        return opened;
    }

    /** The transports that were tried before. */
    Set<String> without() {
        return without;
    }

    /** Whether a transport may carry an additional path: not if that was tried before. */
    boolean mayBeAdded(String name) {
        return !without.contains(name) && !notAdded.contains(name);
    }

    /** Records the transport that the bootstrap has agreed on. */
    void takes(String name) {
        transport = name;
    }

    private void ended(@Nullable Connection connection, @Nullable Throwable error) {
        String tried = transport;
        if (error instanceof ConnectFailedException
                && error.getCause() instanceof PathUnavailableException unavailable
                && mayBeAdded(unavailable.transport())) {
            LOG.info(
                    "connecting to {} again without a path over {}: {}",
                    target,
                    unavailable.transport(),
                    error.getMessage());
            new ConnectAttempt(engine, target, options, without, with(notAdded, unavailable.transport()), result)
                    .begin();
        } else if (error instanceof ConnectFailedException
                && error.getCause() instanceof TransportUnavailableException
                && tried != null
                && without.size() + 1 < engine.transports().names().size()) {
            LOG.info("the connection to {} cannot use {}: {}", target, tried, error.getMessage());
            new ConnectAttempt(engine, target, options, with(without, tried), notAdded, result).begin();
        } else if (error != null) {
            result.completeExceptionally(error);
        } else {
            result.complete(connection);
        }
    }

    private static Set<String> with(Set<String> names, String another) {
        Set<String> more = new HashSet<>(names);
        more.add(another);
        return Set.copyOf(more);
    }
}
