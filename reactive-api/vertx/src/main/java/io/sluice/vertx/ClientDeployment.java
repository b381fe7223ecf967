package io.sluice.vertx;

import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Closes a client when its verticle is undeployed or its Vert.x is closed. Vert.x has no public hook for that, but it
 * undeploys the children of a verticle with it, and waits for them; so the client deploys this object.
 */
final class ClientDeployment implements Deployable {
    private static final Logger LOG = LoggerFactory.getLogger(ClientDeployment.class);

    private final DefaultTransferClient client;
    private final Vertx vertx;
    private final Future<String> deployment;

    /** Deploys a watcher for the client. */
    ClientDeployment(Vertx vertx, DefaultTransferClient client) {
        this.client = client;
        this.vertx = vertx;
        this.deployment = vertx.deployVerticle(this);
        // fails while the verticle or Vert.x is ending: closing the client undeploys this object
        deployment.onFailure(refused -> client.close());
    }

    @Override
    public Future<?> deploy(Context context) {
        // Vert.x also calls this after an undeployment, and then reports that its promise is completed twice
        context.exceptionHandler(
                late -> LOG.debug("{} was created too late to be deployed; close it explicitly", client, late));
        return Future.succeededFuture();
    }

    /** A failed undeployment would keep the verticle from stopping. */
    @Override
    public Future<?> undeploy(Context context) {
        return client.closeUndeployed().otherwiseEmpty();
    }

    /** The client was closed explicitly. Completes when this object is undeployed, by any caller. */
    Future<?> end() {
        return deployment.compose(vertx::undeploy).otherwiseEmpty();
    }
}
