package io.sluice.reactor.recovery;

import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionLostException;
import io.sluice.engine.ConnectionState;
import io.sluice.reactor.ReactiveConnection;
import java.lang.reflect.Proxy;
import java.util.concurrent.CompletableFuture;

/** A connection that ends when the test says so, and can do nothing else. */
final class ScriptedConnection {
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile ConnectionState state = ConnectionState.OPEN;
    private final ReactiveConnection face = ReactiveConnection.from((Connection) Proxy.newProxyInstance(
            Connection.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> switch (method.getName()) {
                case "state" -> state;
                case "ended" -> ended;
                case "close" -> {
                    state = ConnectionState.CLOSED;
                    ended.complete(null);
                    yield CompletableFuture.completedFuture(null);
                }
                case "toString" -> "scripted, " + state;
                default -> throw new UnsupportedOperationException(method.getName());
            }));

    ReactiveConnection face() {
        return face;
    }

    ConnectionState state() {
        return state;
    }

    void lose() {
        state = ConnectionState.LOST;
        ended.completeExceptionally(new ConnectionLostException("lost by the test"));
    }
}
