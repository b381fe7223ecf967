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
record Face(Connection connection, @Nullable TransferConnection vertx) {

    static Face of(TransferConnection vertx) {
        return new Face(vertx.connection(), vertx);
    }

    TransferConnection requireVertx() {
        return Objects.requireNonNull(vertx, "opened for Vert.x");
    }
}
