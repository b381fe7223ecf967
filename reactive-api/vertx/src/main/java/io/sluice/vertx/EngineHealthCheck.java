package io.sluice.vertx;

import io.sluice.engine.TransferEngine;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Checks that every poller of an engine makes progress. */
final class EngineHealthCheck {
    private static final int THRESHOLDS = 10;
    private static final Duration LEAST_PATIENCE = Duration.ofSeconds(1);

    private EngineHealthCheck() {}

    /** Completes with the result, whether healthy or not. */
    static CompletableFuture<JsonObject> of(TransferEngine engine) {
        Duration stalled = engine.options().stallThreshold().multipliedBy(THRESHOLDS);
        long patience = Math.max(LEAST_PATIENCE.toMillis(), stalled.toMillis());
        return engine.pingPollers()
                .copy()
                .orTimeout(patience, TimeUnit.MILLISECONDS)
                .handle((nothing, error) -> answer(engine, patience, error));
    }

    private static JsonObject answer(TransferEngine engine, long patience, @Nullable Throwable error) {
        JsonObject answer = new JsonObject().put("engine", engine.metrics().engine());
        if (error != null) {
            Throwable cause =
                    error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
            String late = "a poller has not ended a duty cycle for " + patience + " ms";
            return down(answer, cause instanceof TimeoutException ? late : String.valueOf(cause.getMessage()));
        }
        if (engine.options().listenHost() != null) {
            try {
                answer.put("address", engine.address().toString());
            } catch (IllegalStateException deaf) {
                return down(answer, String.valueOf(deaf.getMessage()));
            }
        }
        return answer.put("status", "UP")
                .put("connections", engine.connections().size());
    }

    private static JsonObject down(JsonObject answer, String detail) {
        return answer.put("status", "DOWN").put("detail", detail);
    }
}
