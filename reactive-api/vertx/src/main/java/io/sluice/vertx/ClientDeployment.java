package io.sluice.vertx;

import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes a client when its verticle is undeployed, or its Vert.x is closed. Vert.x has no public hook for that, but it undeploys what
 * a verticle has deployed together with it, and waits; so the client deploys this.
 */
final class ClientDeployment implements Deployable {
    private static final Logger LOG = LoggerFactory.getLogger(ClientDeployment.class);

    private final DefaultTransferClient client;
    private final Vertx vertx;
    private final Future<String> deployment;

    /** Watches over a client from now on. */
    ClientDeployment(Vertx vertx, DefaultTransferClient client) {
        this.client = client;
        this.vertx = vertx;
        this.deployment = vertx.deployVerticle(this);
        // It fails when the verticle or Vert.x is on its way out, and then this would stay deployed.
        deployment.onFailure(refused -> client.close());
    }

    @Override
    public Future<?> deploy(Context context) {
        // Vert.x calls this also where it has undeployed it before, and reports then that its promise is completed
        // twice
        context.exceptionHandler(late -> LOG.debug("{} has come too late to be deployed", client, late));
        return Future.succeededFuture();
    }

    /** An undeployment that fails would keep the verticle from stopping. */
    @Override
    public Future<?> undeploy(Context context) {
        return client.closeUndeployed().otherwiseEmpty();
    }

    /** The client was closed by hand. Completes when this is undeployed, by any caller. */
    Future<?> end() {
        return deployment.compose(vertx::undeploy).otherwiseEmpty();
    }
}
