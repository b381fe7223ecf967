package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.TransferElement;

/**
 * Routes all elements over one connection, which refuses those of another.
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
