package io.sluice.samples.bench;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.vertx.TransferClient;
import io.sluice.vertx.TransferClientOptions;
import io.sluice.vertx.TransferConnection;
import io.vertx.core.Vertx;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The side that starts transfers: an engine, and what an interface needs besides. */
public record Initiator(
        TransferEngine engine,
        @Nullable Vertx vertx,
        @Nullable TransferClient client) implements AutoCloseable {
    /**
     * Opens an engine for transfers through an interface.
     *
     * @param options that {@link Bench#fit} gives
     */
    public static Initiator open(Api api, EngineOptions options) {
        if (api != Api.VERTX) {
            return new Initiator(TransferEngine.open(options), null, null);
        }
        Vertx vertx = Vertx.vertx();
        try {
            TransferClient client = TransferClient.create(vertx, new TransferClientOptions().setEngineOptions(options));
            return new Initiator(client.engine(), vertx, client);
        } catch (RuntimeException e) {
            vertx.close();
            throw e;
        }
    }

    ClientConnection connect(EngineAddress address) {
        return client == null
                ? new ClientConnection(Waiting.await(engine.connect(address), "connecting"), null)
                : ClientConnection.of(Waiting.await(
                        client.connect(address).toCompletionStage().toCompletableFuture(), "connecting"));
    }

    @Override
    public void close() {
        if (vertx == null) {
            engine.close();
        } else {
            // With it goes the client, and with that the engine.
            Waiting.await(vertx.close().toCompletionStage().toCompletableFuture(), "closing");
        }
    }

    /**
     * A connection as an interface shows it.
     *
     * @param connection the engine's own
     * @param vertx the same for Vert.x, where transfers are started by that
     */
    record ClientConnection(Connection connection, @Nullable TransferConnection vertx) {
        static ClientConnection of(TransferConnection vertx) {
            return new ClientConnection(vertx.connection(), vertx);
        }

        TransferConnection requireVertx() {
            return Objects.requireNonNull(vertx, "opened for Vert.x");
        }
    }
}
