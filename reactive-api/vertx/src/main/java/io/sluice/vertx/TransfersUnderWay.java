package io.sluice.vertx;

import io.sluice.engine.ConnectionClosedException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What one client has started and has not ended. Only a client that shares its engine needs it: an engine that closes ends its
 * transfers by itself.
 */
final class TransfersUnderWay {
    private final Set<TransferHandle<?>> operations = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    static ConnectionClosedException closed() {
        return new ConnectionClosedException("the client is closed");
    }

    /** An operation begins, unless the client is closed. */
    boolean begin(TransferHandle<?> operation) {
        if (closed) {
            return false;
        }
        operations.add(operation);
        return true;
    }

    void end(TransferHandle<?> operation) {
        operations.remove(operation);
    }

    boolean isClosed() {
        return closed;
    }

    /** Cancels what there is, and lets nothing begin any more. */
    void close() {
        closed = true;
        operations.forEach(TransferHandle::cancel);
    }
}
