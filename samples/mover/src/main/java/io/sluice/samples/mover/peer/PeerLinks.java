package io.sluice.samples.mover.peer;

import io.sluice.directory.Directory;
import io.sluice.directory.EngineEntry;
import io.sluice.samples.mover.pool.Pools;
import io.sluice.samples.mover.problem.Problems;
import io.sluice.vertx.TransferClient;
import io.sluice.vertx.TransferConnection;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The links of a mover: those that it makes by name, and those that others make. Confined to its context. */
public final class PeerLinks {
    private static final Logger LOG = LoggerFactory.getLogger(PeerLinks.class);

    private final Vertx vertx;
    private final Context context;
    private final TransferClient client;
    private final Directory directory;
    private final PoolService desk;
    private final Map<Long, PeerLink> links = new HashMap<>();

    /** For a mover's context, on that context. */
    public PeerLinks(Vertx vertx, TransferClient client, Directory directory, Pools pools) {
        this.vertx = vertx;
        this.context = vertx.getOrCreateContext();
        this.client = client;
        this.directory = directory;
        this.desk = new PoolService(pools);
    }

    public void listen() {
        client.accepted()
                .exceptionHandler(error -> LOG.warn("No further peers are accepted: {}", error.getMessage()))
                .handler(this::link);
    }

    /** The link to the engine that has a name now. */
    public Future<PeerLink> to(String peer) {
        return Future.fromCompletionStage(directory.find(peer).toFuture(), context)
                .map(Objects::requireNonNull)
                .compose(entry -> client.connection(entry.address()).compose(connection -> checked(entry, connection)))
                .map(this::link);
    }

    /**
     * A name's connection must lead to the run that the name stands for: an address may have passed to another. It stays open:
     * others may use it, who mean the run that it leads to; and if that has died, it ends by itself.
     */
    private static Future<TransferConnection> checked(EngineEntry entry, TransferConnection connection) {
        if (connection.connection().peer().equals(entry.engineId())
                && connection.connection().peerEpoch() == entry.epoch()) {
            return Future.succeededFuture(connection);
        }
        return Problems.PEER_RESTARTED.failed(entry.name());
    }

    private PeerLink link(TransferConnection connection) {
        long id = connection.connection().id();
        PeerLink known = links.get(id);
        if (known != null && known.isOpen()) {
            return known;
        }
        PeerLink link = PeerLink.over(vertx, context, connection, desk);
        links.put(id, link);
        connection.ended().onComplete(end -> links.remove(id, link));
        return link;
    }
}
