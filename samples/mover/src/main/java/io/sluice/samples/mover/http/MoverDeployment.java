package io.sluice.samples.mover.http;

import io.sluice.engine.HostAndPort;
import io.sluice.samples.mover.MoverClient;
import io.sluice.samples.mover.MoverOptions;
import io.sluice.samples.mover.MoverVerticle;
import io.vertx.core.Future;
import io.vertx.core.Vertx;

/**
 * A mover with its HTTP server, both deployed.
 *
 * @param client to use it in this process
 */
public record MoverDeployment(MoverClient client, String host, int port, String moverId, String httpId) {
    /**
     * Deploys both.
     *
     * @param http its HTTP server; which mover it serves is taken from the mover
     * @return what was deployed; if one of them fails to start, neither is
     */
    public static Future<MoverDeployment> deploy(Vertx vertx, MoverOptions mover, MoverHttpOptions http) {
        MoverHttpVerticle server = new MoverHttpVerticle(http.servingLocal(mover.directoryName()));
        MoverClient client = MoverClient.local(vertx, mover.directoryName());
        return vertx.deployVerticle(new MoverVerticle(mover))
                .compose(moverId -> vertx.deployVerticle(server)
                        .map(httpId -> new MoverDeployment(client, http.host(), server.port(), moverId, httpId))
                        .recover(error -> client.ask(MoverClient.Operation.LEAVE)
                                .transform(left -> vertx.undeploy(moverId))
                                .transform(undeployed -> Future.failedFuture(error))));
    }

    public String url() {
        return "http://" + HostAndPort.text(host, port);
    }

    /**
     * Ends both: first the HTTP server, then the mover leaves the directory, so that no peer is sent to it, and
     * then it ends its moves.
     */
    public Future<Void> undeploy(Vertx vertx) {
        return vertx.undeploy(httpId)
                .transform(done -> client.ask(MoverClient.Operation.LEAVE))
                .transform(done -> vertx.undeploy(moverId));
    }
}
