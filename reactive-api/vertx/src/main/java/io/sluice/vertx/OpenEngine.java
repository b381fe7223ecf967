package io.sluice.vertx;

import io.sluice.engine.TransferEngine;
import io.vertx.core.Vertx;
import io.vertx.core.shareddata.Shareable;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** An engine with what belongs to it, and how many clients hold it. */
final class OpenEngine implements Shareable {
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
            StagingPool staging =
                    new StagingPool(vertx, engine, options.getStagingBytes(), options.getStagingSlotBytes());
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
        staging.close();
        if (meters != null) {
            try {
                meters.close();
            } catch (Exception impossible) {
                throw new IllegalStateException(impossible);
            }
        }
        return engine.closeAsync();
    }
}
