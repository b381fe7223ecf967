package io.sluice.vertx.snippets;

import io.sluice.vertx.TransferClient;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;

final class HealthServer {
    private HealthServer() {}

    static Future<HttpServer> start(Vertx vertx, TransferClient client) {
        // begin
        return vertx.createHttpServer()
                .requestHandler(request -> client.health().onSuccess(health -> {
                    boolean up = health.getString("status").equals("UP");
                    request.response().setStatusCode(up ? 200 : 503).end(health.encode());
                }))
                .listen(0, "127.0.0.1");
        // end
    }
}
