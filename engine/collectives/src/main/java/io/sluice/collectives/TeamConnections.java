package io.sluice.collectives;

import io.sluice.engine.ConnectFailedException;
import io.sluice.engine.ConnectOptions;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineId;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.LoopGroup;
import io.sluice.engine.RegionNotFoundException;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The connections of a rank to all others, on which it attaches their regions: one for each pair of ranks, so that
 * acknowledgements of what one sends travel with what the other sends. The higher rank connects; the lower one knows the
 * connection by its group, which is the team's, and by the engine at its other end. Where ranks share an engine, each
 * opens a connection of its own.
 */
final class TeamConnections {
    private final TransferEngine engine;
    private final int rank;
    private final List<EngineAddress> addresses;
    private final LoopGroup group;
    private final IntFunction<String> names;
    private final Retry retry;
    private final @Nullable RemoteRegion[] remotes;
    private final Map<EngineId, Awaited> awaited = new HashMap<>();
    private final List<Connection> opened = new ArrayList<>();
    private TransferEngine.@Nullable ListenerHandle listener;
    private boolean closed;

    /** A higher rank, which is to connect. */
    private record Awaited(int rank, CompletableFuture<Connection> attached) {}

    /**
     * Creates it; {@link #open} begins.
     *
     * @param addresses by rank
     * @param group the team
     * @param names the name of each rank's region
     */
    TeamConnections(
            TransferEngine engine,
            int rank,
            List<EngineAddress> addresses,
            LoopGroup group,
            IntFunction<String> names,
            Retry retry) {
        this.engine = engine;
        this.rank = rank;
        this.addresses = addresses;
        this.group = group;
        this.names = names;
        this.retry = retry;
        this.remotes = new RemoteRegion[addresses.size()];
    }

    /** Connects to all ranks and attaches their regions; returns the loop that drives the first connection. */
    CompletableFuture<EngineLoop> open() {
        boolean paired = isEachAnEngine();
        List<CompletableFuture<Connection>> all = new ArrayList<>();
        for (int other = 0; other < addresses.size(); other++) {
            EngineId id = addresses.get(other).engineId();
            if (other > rank && paired && id != null) {
                Awaited peer = new Awaited(other, new CompletableFuture<>());
                awaited.put(id, peer);
                all.add(retry.within(peer.attached));
            } else if (other != rank || addresses.size() == 1) {
                // a team of one needs a loop as well
                all.add(connect(other));
            }
        }
        if (!awaited.isEmpty()) {
            listen();
        }
        return CompletableFuture.allOf(all.toArray(CompletableFuture[]::new))
                .thenApply(nothing -> all.getFirst().join().loop());
    }

    private boolean isEachAnEngine() {
        Set<EngineId> ids = new HashSet<>();
        for (EngineAddress address : addresses) {
            EngineId id = address.engineId();
            if (id == null || !ids.add(id)) {
                return false;
            }
        }
        return true;
    }

    /** Returns the attached regions by rank; null for this one. */
    @Nullable
    RemoteRegion[] remotes() {
        synchronized (remotes) {
            return remotes.clone();
        }
    }

    private CompletableFuture<Connection> connect(int other) {
        return retry.until(
                        () -> engine.connect(
                                addresses.get(other), ConnectOptions.defaults().inGroup(group)),
                        connection -> true,
                        error -> error instanceof ConnectFailedException)
                .thenCompose(connection -> {
                    keep(connection);
                    return other == rank
                            ? CompletableFuture.completedFuture(connection)
                            : attach(other, connection).thenApply(remote -> connection);
                });
    }

    private CompletableFuture<Void> attach(int other, Connection connection) {
        return retry.until(
                        () -> connection.lookup(names.apply(other)),
                        descriptor -> true,
                        error -> error instanceof RegionNotFoundException)
                .thenCompose(connection::attach)
                .thenAccept(remote -> {
                    synchronized (remotes) {
                        remotes[other] = remote;
                    }
                });
    }

    // ---- connections that higher ranks open ----

    private void listen() {
        TransferEngine.ListenerHandle added = engine.onConnection(this::accepted);
        synchronized (opened) {
            listener = added;
            if (!closed) {
                return;
            }
        }
        added.close();
    }

    private void accepted(Connection connection) {
        Awaited from = group.equals(connection.group()) ? awaited.get(connection.peer()) : null;
        if (from == null || from.attached.isDone()) {
            return;
        }
        keep(connection);
        attach(from.rank, connection).whenComplete((nothing, error) -> {
            if (error == null) {
                from.attached.complete(connection);
            } else {
                // the peer's attempt to connect has succeeded, so that none follows
                from.attached.completeExceptionally(
                        error instanceof CompletionException && error.getCause() != null ? error.getCause() : error);
            }
        });
    }

    // ---- the end ----

    private void keep(Connection connection) {
        synchronized (opened) {
            opened.add(connection);
            if (!closed) {
                return;
            }
        }
        connection.close();
    }

    /** All are there, or not needed: connections that are opened from now on are not this team's. */
    void stopListening() {
        TransferEngine.ListenerHandle handle;
        synchronized (opened) {
            handle = listener;
            listener = null;
        }
        if (handle != null) {
            handle.close();
        }
    }

    /** Closes all connections. */
    CompletableFuture<Void> close() {
        List<Connection> closing;
        synchronized (opened) {
            closed = true;
            closing = List.copyOf(opened);
        }
        stopListening();
        return CompletableFuture.allOf(closing.stream().map(Connection::close).toArray(CompletableFuture[]::new));
    }

    /** Throws if several loops drive the connections. */
    static void checkLoop(@Nullable RemoteRegion[] attached, EngineLoop loop, String team) {
        for (RemoteRegion remote : attached) {
            if (remote != null && !remote.connection().loop().equals(loop)) {
                throw new SluiceException(
                        "the connections of " + team + " are driven by several loops, as one has failed");
            }
        }
    }
}
