package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.TransferElement;

/**
 * All elements take one connection, which refuses those of another.
 *
 * @param connection the connection
 */
record ConnectionRoute(Connection connection) implements Route {
    @Override
    public Connection connection(TransferElement element) {
        return connection;
    }

    @Override
    public int operationLimit() {
        return connection.window().operationLimit();
    }
}
