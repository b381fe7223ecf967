package io.sluice.samples.bench;

import io.sluice.engine.Connection;
import io.sluice.vertx.TransferConnection;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

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
