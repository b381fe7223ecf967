package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferElement;
import java.util.function.IntSupplier;

/**
 * Routes each element over the connection on which its remote region was attached.
 *
 * @param options the engine's options
 * @param connections the number of connections that the elements may use; called at each subscription
 */
record SpanningRoute(EngineOptions options, IntSupplier connections) implements Route {
    @Override
    public Connection connection(TransferElement element) {
        return element.remote().connection();
    }

    /**
     * Enough to fill the windows of all those connections, but never more than may be pending on one, as all elements
     * may use the same.
     */
    @Override
    public int operationLimit() {
        long windows = (long) options.windowOperations() * Math.max(1, connections.getAsInt());
        long most = Math.min(options.engineWindowOperations(), options.maxPending());
        return (int) Math.min(windows, most);
    }
}
