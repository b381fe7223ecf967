package io.sluice.samples.mover;

import io.sluice.samples.mover.move.Moves;
import io.sluice.samples.mover.peer.PeerLinks;
import io.sluice.samples.mover.peer.Peers;
import io.sluice.samples.mover.pool.Pools;
import io.sluice.vertx.TransferClient;
import io.sluice.vertx.TransferClientOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.json.JsonObject;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A mover: it owns a transfer engine, pools of blocks and their moves, and is used over the event bus, by
 * {@link MoverClient}. It is ready when its engine listens and the directory knows it.
 */
public final class MoverVerticle extends VerticleBase {
    /** A peer's figures of its own for so many of them. */
    private static final int METERED_PEERS = 64;

    private final MoverOptions options;
    private @Nullable Peers peers;
    private @Nullable MoverPresence presence;

    public MoverVerticle(MoverOptions options) {
        this.options = Objects.requireNonNull(options, "options");
    }

    @Override
    public Future<?> start() {
        String name = options.directoryName();
        TransferClientOptions clientOptions = new TransferClientOptions()
                .setEngineOptions(options.engine())
                .configureEngine(engine -> engine.name(name))
                .setMetricsRegistryName(options.metricsRegistry())
                .setMetricsPeers(METERED_PEERS);
        // To open an engine takes milliseconds, and with RDMA devices longer.
        return vertx.executeBlocking(() -> TransferClient.create(vertx, clientOptions))
                .map(Objects::requireNonNull)
                .compose(this::begin);
    }

    private Future<Void> begin(TransferClient client) {
        String name = options.directoryName();
        Pools pools = new Pools(vertx, client, options.memoryBytes());
        Peers others = new Peers(options.directory(), context, client.engine(), name);
        PeerLinks links = new PeerLinks(vertx, client, options.directory(), pools);
        MoverEvents events = new MoverEvents(vertx, name, client.engine().metrics());
        Moves moves = new Moves(
                vertx,
                options.directory(),
                pools,
                others,
                links,
                options.limits(),
                name,
                client.engine().epoch(),
                events);
        MoverPresence entry = new MoverPresence(vertx, options.directory(), client.engine(), name);
        MoverService service = new MoverService(options, client, pools, others, links, moves, entry);
        peers = others;
        presence = entry;
        links.listen();
        others.watch();
        events.begin();
        return vertx.eventBus()
                .<JsonObject>consumer(MoverClient.address(name), service::handle)
                .completion()
                .compose(registered -> entry.publish());
    }

    @Override
    public Future<?> stop() {
        // The engine is a child deployment and has been closed by now: who can should have let the mover leave before.
        if (peers != null) {
            peers.close();
        }
        return presence == null ? Future.succeededFuture() : presence.withdraw();
    }
}
