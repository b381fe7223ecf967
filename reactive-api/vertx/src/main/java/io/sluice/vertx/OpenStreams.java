package io.sluice.vertx;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The streams that a client has begun and that have not ended: they end with it. */
final class OpenStreams {
    private static final Logger LOG = LoggerFactory.getLogger(OpenStreams.class);

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
        streams.forEach(stream -> {
            try {
                stream.clientClosed();
            } catch (RuntimeException refused) {
                LOG.warn("A stream could not be stopped", refused);
            }
        });
        streams.clear();
    }
}
