package io.sluice.snippets;

import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionDescriptor;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.vertx.TransferClient;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.json.JsonObject;

/**
 * A verticle that writes a buffer into a peer's memory. Its futures complete on the verticle's event loop, and the engine
 * closes with the verticle.
 *
 * <p>Run: {@code ./sluice snippet VertxVerticle}
 */
public final class VertxVerticle extends VerticleBase {
    @Override
    public Future<?> start() {
        TransferClient client = TransferClient.create(vertx);
        EngineAddress peer = EngineAddress.parse(config().getString("peer"));
        RegionDescriptor pages = RegionDescriptor.fromBytes(config().getBinary("pages"));
        return client.connect(peer)
                .compose(connection -> connection
                        .attach(pages)
                        .compose(remote -> connection.writeBuffer(Buffer.buffer("a page\0"), remote, 0)));
    }

    public static void main(String[] arguments) {
        Vertx vertx = Vertx.vertx();
        try (TransferEngine peer = TransferEngine.open()) {
            MemoryRegion pages = peer.allocate(4096, RegionOptions.readWrite());
            JsonObject config = new JsonObject()
                    .put("peer", peer.address().toString())
                    .put("pages", pages.descriptor().toBytes());

            vertx.deployVerticle(new VertxVerticle(), new DeploymentOptions().setConfig(config))
                    .toCompletionStage()
                    .toCompletableFuture()
                    .join();

            System.out.println("written by a verticle: " + pages.segment().getString(0));
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }
}
