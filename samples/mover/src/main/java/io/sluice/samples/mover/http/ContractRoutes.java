package io.sluice.samples.mover.http;

import io.vertx.core.Handler;
import io.vertx.ext.web.RoutingContext;
import io.vertx.ext.web.openapi.router.OpenAPIRoute;
import io.vertx.ext.web.openapi.router.RouterBuilder;
import java.util.Objects;

/** The routes of the contract, by the ids of its operations. */
record ContractRoutes(RouterBuilder builder) {
    /**
     * Says how an operation is carried out.
     *
     * @throws NullPointerException if the contract has no such operation
     */
    void add(String operation, Handler<RoutingContext> handler) {
        route(operation).addHandler(handler);
    }

    /**
     * The same for an operation that takes nothing which could be wrong: so it needs no worker, and is answered also when all
     * are busy.
     */
    void addUnvalidated(String operation, Handler<RoutingContext> handler) {
        route(operation).setDoValidation(false).addHandler(handler);
    }

    private OpenAPIRoute route(String operation) {
        return Objects.requireNonNull(builder.getRoute(operation), operation);
    }
}
