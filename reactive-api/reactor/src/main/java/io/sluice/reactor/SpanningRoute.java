package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferElement;
import java.util.function.IntSupplier;

/**
 * Each element takes the connection that its remote region was attached on.
 *
 * @param options the engine's
 * @param connections how many connections the elements may take; asked at each subscription
 */
record SpanningRoute(EngineOptions options, IntSupplier connections) implements Route {
    @Override
    public Connection connection(TransferElement element) {
        return element.remote().connection();
    }

    /**
     * Enough to fill the windows of all those connections. If all elements take one of them, it must hold them all, so
     * this is never more than may be pending on one.
     */
    @Override
    public int operationLimit() {
        long windows = (long) options.windowOperations() * Math.max(1, connections.getAsInt());
        long most = Math.min(options.engineWindowOperations(), options.maxPending());
        return (int) Math.min(windows, most);
    }
}
