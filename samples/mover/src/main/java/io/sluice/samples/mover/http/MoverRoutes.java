package io.sluice.samples.mover.http;

import io.sluice.samples.mover.MoverClient;
import io.sluice.samples.mover.problem.Problems;
import io.vertx.core.Future;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.openapi.router.RouterBuilder;
import io.vertx.openapi.validation.RequestParameter;
import io.vertx.openapi.validation.ValidatedRequest;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/** What is passed on to the mover as it comes, after it was validated. */
record MoverRoutes(MoverClient mover) {
    private static final int OK = 200;
    private static final int CREATED = 201;
    private static final int ACCEPTED = 202;
    private static final int NO_CONTENT = 204;

    void addTo(ContractRoutes routes) {
        add(routes, "describe", OK, request -> mover.describe());
        add(routes, "peers", OK, request -> mover.peers());
        add(routes, "pools", OK, request -> mover.pools());
        add(routes, "closePool", NO_CONTENT, request -> mover.closePool(path(request, "pool")));
        add(routes, "blocks", OK, request -> mover.blocks(query(request)));
        add(routes, "compute", OK, request -> mover.compute(body(request)));
        add(routes, "moves", OK, request -> mover.moves());
        add(routes, "move", OK, request -> mover.move(path(request, "id")));
        add(routes, "cancel", ACCEPTED, request -> mover.cancel(path(request, "id")));
        addCreation(routes, "registerPool", CREATED, "/api/pools/", "name", mover::registerPool);
        addCreation(routes, "submit", ACCEPTED, "/api/moves/", "id", mover::submit);
    }

    private static void addCreation(
            ContractRoutes routes,
            String operation,
            int status,
            String folder,
            String key,
            Function<JsonObject, Future<JsonObject>> action) {
        routes.add(operation, context -> {
            Future<JsonObject> made = action.apply(body(request(context)));
            made.onSuccess(it -> context.response().putHeader("Location", folder + it.getString(key)));
            answer(context, status, made);
        });
    }

    private static void add(
            ContractRoutes routes,
            String operation,
            int status,
            Function<ValidatedRequest, Future<JsonObject>> action) {
        routes.add(operation, context -> answer(context, status, action.apply(request(context))));
    }

    private static void answer(RoutingContext context, int status, Future<JsonObject> outcome) {
        outcome.onComplete(done -> {
            if (done.failed()) {
                ProblemResponse.send(context, Problems.of(done.cause()));
                return;
            }
            HttpServerResponse response = context.response().setStatusCode(status);
            if (status == NO_CONTENT) {
                response.end();
            } else {
                response.putHeader("Content-Type", "application/json")
                        .putHeader("Cache-Control", "no-store")
                        .end(done.result().toBuffer());
            }
        });
    }

    private static ValidatedRequest request(RoutingContext context) {
        return Objects.requireNonNull(context.get(RouterBuilder.KEY_META_DATA_VALIDATED_REQUEST));
    }

    private static JsonObject body(ValidatedRequest request) {
        return Objects.requireNonNull(request.getBody().getJsonObject());
    }

    private static String path(ValidatedRequest request, String name) {
        RequestParameter value = request.getPathParameters().get(name);
        return value == null ? "" : String.valueOf(value.getString());
    }

    private static JsonObject query(ValidatedRequest request) {
        JsonObject query = new JsonObject();
        for (Map.Entry<String, RequestParameter> parameter : request.getQuery().entrySet()) {
            if (!parameter.getValue().isNull()) {
                query.put(parameter.getKey(), parameter.getValue().get());
            }
        }
        return query;
    }
}
