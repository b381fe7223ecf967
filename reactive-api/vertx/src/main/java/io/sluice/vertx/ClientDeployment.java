package io.sluice.vertx;

import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import org.jspecify.annotations.Nullable;

/**
 * Closes a client when its verticle is undeployed, or its Vert.x is closed. Vert.x has no public hook for that, but it undeploys what
 * a verticle has deployed together with it, and waits; so this is deployed.
 */
final class ClientDeployment implements Deployable {
    private final DefaultTransferClient client;
    private @Nullable Future<String> deployment;

    private ClientDeployment(DefaultTransferClient client) {
        this.client = client;
    }

    /** Watches over a client from now on. */
    static ClientDeployment of(Vertx vertx, DefaultTransferClient client) {
        ClientDeployment watch = new ClientDeployment(client);
        Future<String> deploying = vertx.deployVerticle(watch);
        watch.deployment = deploying;
        // It fails when the verticle or Vert.x is on its way out, and then this would stay deployed.
        deploying.onFailure(refused -> client.close());
        return watch;
    }

    @Override
    public Future<?> deploy(Context context) {
        return Future.succeededFuture();
    }

    /** An undeployment that fails would keep the verticle from stopping. */
    @Override
    public Future<?> undeploy(Context context) {
        return client.closeUndeployed().otherwiseEmpty();
    }

    /**
     * The client was closed by hand: there is nothing to watch over any more.
     *
     * @return completes when this is undeployed, by any caller
     */
    Future<?> end(Vertx vertx) {
        Future<String> deploying = deployment;
        return deploying == null
                ? Future.succeededFuture()
                : deploying.compose(vertx::undeploy).otherwiseEmpty();
    }
}
