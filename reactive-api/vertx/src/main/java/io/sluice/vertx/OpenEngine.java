package io.sluice.vertx;

import io.sluice.engine.TransferEngine;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.LocalMap;
import io.vertx.core.shareddata.Shareable;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An engine with its staging memory and meters, of one client or shared by several. */
final class OpenEngine {
    private static final Logger LOG = LoggerFactory.getLogger(OpenEngine.class);

    private final TransferEngine engine;
    private final StagingPool staging;
    private final @Nullable AutoCloseable meters;
    private int holders;

    private OpenEngine(TransferEngine engine, StagingPool staging, @Nullable AutoCloseable meters) {
        this.engine = engine;
        this.staging = staging;
        this.meters = meters;
    }

    static OpenEngine open(Vertx vertx, TransferClientOptions options) {
        TransferEngine engine = TransferEngine.open(options.getEngineOptions());
        try {
            StagingPool staging = new StagingPool(engine, options.getStagingBytes(), options.getStagingSlotBytes());
            return new OpenEngine(engine, staging, RegistryOfVertx.bind(vertx, engine, options));
        } catch (RuntimeException | LinkageError failed) {
            engine.closeAsync();
            throw failed;
        }
    }

    TransferEngine engine() {
        return engine;
    }

    StagingPool staging() {
        return staging;
    }

    /** Opens the engine that clients of one Vert.x share by a name, or holds the one that is open. */
    static OpenEngine hold(Vertx vertx, String name, TransferClientOptions options) {
        Shared shared = Shared.of(vertx);
        synchronized (shared) {
            OpenEngine known = shared.engines.get(name);
            if (known == null) {
                known = open(vertx, options);
                shared.engines.put(name, known);
            }
            known.holders++;
            return known;
        }
    }

    /** Lets go of a shared one. Whether that was the last hold, so that it is to be closed. */
    boolean release(Vertx vertx, String name) {
        Shared shared = Shared.of(vertx);
        synchronized (shared) {
            holders--;
            if (holders == 0) {
                shared.engines.remove(name, this);
            }
            return holders == 0;
        }
    }

    /** The shared engines of one Vert.x, by name; gone with it. Guards its map and the engines' holders. */
    private static final class Shared implements Shareable {
        private static final String PLACE = "io.sluice.vertx.engines";

        private final Map<String, OpenEngine> engines = new HashMap<>();

        static Shared of(Vertx vertx) {
            LocalMap<String, Shared> place = vertx.sharedData().getLocalMap(PLACE);
            return place.computeIfAbsent(PLACE, any -> new Shared());
        }
    }

    /** Closes what belongs to the engine, and the engine. */
    CompletableFuture<Void> close() {
        try {
            staging.close();
        } catch (RuntimeException refused) {
            LOG.warn(
                    "Engine {} closes; transfers that waited for its staging memory were not refused",
                    engine.id(),
                    refused);
        }
        if (meters != null) {
            try {
                meters.close();
            } catch (Exception refused) {
                LOG.warn("Engine {} closes; its meters stay in the registry", engine.id(), refused);
            }
        }
        return engine.closeAsync();
    }
}
