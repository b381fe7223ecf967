package io.sluice.samples.mover.http;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.sluice.samples.mover.MoverClient;
import io.sluice.samples.mover.problem.Problems;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import io.vertx.micrometer.backends.BackendRegistries;
import org.jspecify.annotations.Nullable;

/** Probes, and figures for Prometheus. */
record OperationRoutes(
        Vertx vertx, MoverClient mover, @Nullable String registryName) {
    private static final int OK = 200;
    private static final int UNAVAILABLE = 503;
    private static final String PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

    void addTo(ContractRoutes routes) {
        routes.addUnvalidated("live", context -> probe(context, "live"));
        routes.addUnvalidated("ready", context -> probe(context, "ready"));
        routes.addUnvalidated("metrics", this::scrape);
    }

    private void probe(RoutingContext context, String question) {
        mover.health().onComplete(done -> {
            boolean isUp = done.succeeded() && done.result().getBoolean(question);
            String detail = done.succeeded()
                    ? done.result().getString("detail")
                    : Problems.of(done.cause()).detail();
            context.response()
                    .setStatusCode(isUp ? OK : UNAVAILABLE)
                    .putHeader("Content-Type", "application/json")
                    .putHeader("Cache-Control", "no-store")
                    .end(new JsonObject()
                            .put("status", isUp ? "up" : "down")
                            .put("detail", detail)
                            .toBuffer());
        });
    }

    private void scrape(RoutingContext context) {
        MeterRegistry registry = registryName == null ? null : BackendRegistries.getNow(registryName);
        if (!(registry instanceof PrometheusMeterRegistry prometheus)) {
            ProblemResponse.send(context, Problems.NOT_FOUND.with("/metrics"));
            return;
        }
        // Reads every figure, and makes a text of some hundred kilobytes.
        vertx.executeBlocking(() -> prometheus.scrape(), false).onComplete(done -> {
            if (done.succeeded()) {
                context.response().putHeader("Content-Type", PROMETHEUS_TEXT).end(done.result());
            } else {
                ProblemResponse.send(context, Problems.of(done.cause()));
            }
        });
    }
}
