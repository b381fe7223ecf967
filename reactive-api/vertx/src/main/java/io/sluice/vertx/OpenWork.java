package io.sluice.vertx;

import io.sluice.engine.ConnectionClosedException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The running streams or transfers of a client, which end with it. */
final class OpenWork<T> {
    private static final Logger LOG = LoggerFactory.getLogger(OpenWork.class);

    private final Consumer<? super T> ending;
    private final Set<T> open = ConcurrentHashMap.newKeySet();
    private volatile boolean closed;

    OpenWork(Consumer<? super T> ending) {
        this.ending = ending;
    }

    static ConnectionClosedException clientClosed() {
        return new ConnectionClosedException("the client is closed; make another with TransferClient.create");
    }

    /** Adds one that starts, unless the client is closed. */
    boolean add(T work) {
        open.add(work);
        if (closed) {
            open.remove(work);
            return false;
        }
        return true;
    }

    void remove(T work) {
        open.remove(work);
    }

    boolean isClosed() {
        return closed;
    }

    /** Ends all of them. Nothing can be added afterwards. */
    void close() {
        closed = true;
        open.forEach(work -> {
            try {
                ending.accept(work);
            } catch (RuntimeException refused) {
                LOG.warn("The client was closed, but {} did not end", work, refused);
            }
        });
        open.clear();
    }
}
