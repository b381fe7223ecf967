package io.sluice.vertx;

import io.sluice.engine.TransferEngine;
import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Asks every poller of an engine for a sign of life. */
final class EngineHealthCheck {
    private static final int THRESHOLDS = 10;
    private static final Duration LEAST_PATIENCE = Duration.ofSeconds(1);

    private final TransferEngine engine;
    private final long patienceMillis;

    EngineHealthCheck(TransferEngine engine) {
        this.engine = engine;
        this.patienceMillis = Math.max(
                LEAST_PATIENCE.toMillis(),
                engine.options().stallThreshold().multipliedBy(THRESHOLDS).toMillis());
    }

    /** Completes with the result, healthy or not. */
    CompletableFuture<JsonObject> ask() {
        return engine.pingPollers()
                .copy()
                .orTimeout(patienceMillis, TimeUnit.MILLISECONDS)
                .handle((nothing, error) -> answer(error));
    }

    private JsonObject answer(@Nullable Throwable error) {
        JsonObject answer = new JsonObject()
                .put("status", "UP")
                .put("engine", engine.metrics().engine());
        if (error != null) {
            return answer.put("status", "DOWN").put("detail", detail(error));
        }
        if (engine.options().listenHost() != null) {
            try {
                answer.put("address", engine.address().toString());
            } catch (IllegalStateException deaf) {
                return answer.put("status", "DOWN").put("detail", String.valueOf(deaf.getMessage()));
            }
        }
        return answer.put("connections", engine.connections().size());
    }

    private String detail(Throwable error) {
        Throwable cause =
                error instanceof CompletionException wrapped && wrapped.getCause() != null ? wrapped.getCause() : error;
        return cause instanceof TimeoutException
                ? "a poller has not ended a duty cycle for " + patienceMillis + " ms"
                : String.valueOf(cause.getMessage());
    }
}
