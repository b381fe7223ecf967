package io.sluice.samples.mover.http;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.sluice.samples.mover.MoverClient;
import io.sluice.samples.mover.MoverClient.Operation;
import io.sluice.samples.mover.problem.Problems;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.openapi.router.OpenAPIRoute;
import io.vertx.ext.web.openapi.router.RouterBuilder;
import io.vertx.micrometer.backends.BackendRegistries;
import io.vertx.openapi.validation.RequestParameter;
import io.vertx.openapi.validation.ValidatedRequest;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Handlers for the operations of the contract. Most pass the validated request on to the mover. */
record MoverRoutes(
        RouterBuilder builder,
        Vertx vertx,
        MoverClient mover,
        @Nullable String registryName) {
    private static final int OK = 200;
    private static final int CREATED = 201;
    private static final int ACCEPTED = 202;
    private static final int NO_CONTENT = 204;
    private static final int UNAVAILABLE = 503;
    private static final String PROMETHEUS_TEXT = "text/plain; version=0.0.4; charset=utf-8";

    void add(EventStreams listeners) {
        pass("describe", OK, Operation.DESCRIBE);
        pass("peers", OK, Operation.PEERS);
        pass("pools", OK, Operation.POOLS);
        pass("closePool", NO_CONTENT, Operation.CLOSE_POOL);
        pass("blocks", OK, Operation.BLOCKS);
        pass("compute", OK, Operation.COMPUTE);
        pass("moves", OK, Operation.MOVES);
        pass("move", OK, Operation.MOVE);
        pass("cancel", ACCEPTED, Operation.CANCEL);
        create("registerPool", CREATED, Operation.REGISTER_POOL, "/api/pools/", "name");
        create("submit", ACCEPTED, Operation.SUBMIT, "/api/moves/", "id");
        route("moveEvents").addHandler(listeners::openForMove);
        route("events").addHandler(listeners::openForAll);
        addUnvalidated("live", context -> probe(context, "live"));
        addUnvalidated("ready", context -> probe(context, "ready"));
        addUnvalidated("metrics", this::scrape);
    }

    private void pass(String id, int status, Operation operation) {
        route(id).addHandler(context -> answer(context, status, mover.ask(operation, asked(context))));
    }

    private void create(String id, int status, Operation operation, String folder, String key) {
        route(id).addHandler(context -> {
            Future<JsonObject> made = mover.ask(operation, asked(context));
            made.onSuccess(it -> context.response().putHeader("Location", folder + it.getString(key)));
            answer(context, status, made);
        });
    }

    /** For what takes nothing that could be wrong: it needs no worker, and is answered also when all are busy. */
    private void addUnvalidated(String operation, Handler<RoutingContext> handler) {
        route(operation).setDoValidation(false).addHandler(handler);
    }

    private OpenAPIRoute route(String operation) {
        return Objects.requireNonNull(builder.getRoute(operation), operation);
    }

    private static void answer(RoutingContext context, int status, Future<JsonObject> outcome) {
        outcome.onFailure(error -> ProblemResponse.send(context, Problems.of(error)))
                .onSuccess(json -> {
                    if (status == NO_CONTENT) {
                        context.response().setStatusCode(status).end();
                    } else {
                        answer(context, status, json);
                    }
                });
    }

    private static void answer(RoutingContext context, int status, JsonObject json) {
        HttpServerResponse response = context.response().setStatusCode(status);
        response.putHeader("Content-Type", "application/json").putHeader("Cache-Control", "no-store");
        response.end(json.toBuffer());
    }

    /** The members of the body, and the parameters of the path and the query. */
    private static JsonObject asked(RoutingContext context) {
        ValidatedRequest request = Objects.requireNonNull(context.get(RouterBuilder.KEY_META_DATA_VALIDATED_REQUEST));
        RequestParameter body = request.getBody();
        JsonObject asked =
                body == null || body.isNull() ? new JsonObject() : Objects.requireNonNull(body.getJsonObject());
        request.getPathParameters().forEach((name, value) -> asked.put(name, String.valueOf(value.getString())));
        request.getQuery().forEach((name, value) -> {
            if (!value.isNull()) {
                asked.put(name, value.get());
            }
        });
        return asked;
    }

    private void probe(RoutingContext context, String question) {
        mover.ask(Operation.HEALTH).onComplete(done -> {
            boolean isUp = done.succeeded() && done.result().getBoolean(question);
            String detail = done.succeeded()
                    ? done.result().getString("detail")
                    : Problems.of(done.cause()).detail();
            JsonObject status = new JsonObject().put("status", isUp ? "up" : "down");
            answer(context, isUp ? OK : UNAVAILABLE, status.put("detail", detail));
        });
    }

    private void scrape(RoutingContext context) {
        MeterRegistry registry = registryName == null ? null : BackendRegistries.getNow(registryName);
        if (!(registry instanceof PrometheusMeterRegistry prometheus)) {
            ProblemResponse.send(context, Problems.NOT_FOUND.with("/metrics"));
            return;
        }
        // Reads every figure, and makes a text of some hundred kilobytes.
        vertx.executeBlocking(() -> prometheus.scrape(), false)
                .onFailure(error -> ProblemResponse.send(context, Problems.of(error)))
                .onSuccess(text -> context.response()
                        .putHeader("Content-Type", PROMETHEUS_TEXT)
                        .end(text));
    }
}
