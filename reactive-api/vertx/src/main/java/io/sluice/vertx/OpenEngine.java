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

/** An engine with its staging memory and meters, owned by one client or shared. */
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

    /** Opens the shared engine of a Vert.x and name, or retains the open one. */
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

    /** Releases a shared engine. Returns whether that was the last holder, so that it must be closed. */
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

    /** The shared engines of one Vert.x by name. Guards its map and the number of holders. */
    private static final class Shared implements Shareable {
        private static final String PLACE = "io.sluice.vertx.engines";

        private final Map<String, OpenEngine> engines = new HashMap<>();

        static Shared of(Vertx vertx) {
            LocalMap<String, Shared> place = vertx.sharedData().getLocalMap(PLACE);
            return place.computeIfAbsent(PLACE, any -> new Shared());
        }
    }

    /** Closes everything that belongs to the engine, then the engine. */
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
