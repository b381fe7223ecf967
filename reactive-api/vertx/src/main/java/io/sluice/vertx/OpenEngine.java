package io.sluice.vertx;

import io.sluice.engine.TransferEngine;
import io.vertx.core.Vertx;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** An engine with what belongs to it, and how many clients hold it. */
final class OpenEngine {
    private static final Logger LOG = LoggerFactory.getLogger(OpenEngine.class);

    private final TransferEngine engine;
    private final StagingPool staging;
    private final @Nullable AutoCloseable meters;
    private int holders = 1;

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

    /** One more client. For {@link SharedEngines} alone, which guards it. */
    void held() {
        holders++;
    }

    /** One client less. As {@link #held()}. */
    boolean released() {
        holders--;
        return holders == 0;
    }

    /** Closes what belongs to the engine, and the engine. */
    CompletableFuture<Void> close() {
        try {
            staging.close();
        } catch (RuntimeException refused) {
            LOG.warn("Engine {} closes; transfers that waited for its staging memory were not refused", engine.id(), refused);
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
