package io.sluice.vertx;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The streams that a client has begun and that have not ended: they end with it. */
final class OpenStreams {
    private final Set<DemandStream<?>> streams = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    /** A stream begins, unless the client is closed. */
    boolean add(DemandStream<?> stream) {
        streams.add(stream);
        if (closed) {
            streams.remove(stream);
            return false;
        }
        return true;
    }

    void remove(DemandStream<?> stream) {
        streams.remove(stream);
    }

    /** Ends them all. */
    void close() {
        closed = true;
        streams.forEach(DemandStream::clientClosed);
        streams.clear();
    }
}
