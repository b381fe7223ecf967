package io.sluice.samples.mover.http;

import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpServerRequest;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Bounds what clients hold of a server: its connections, those of one address, and the time until a request is whole, however
 * often a byte of it comes. Where a new client finds no room, the connection goes whose request has been awaited longest; if
 * all requests are being answered, the new client goes. Confined to the verticle's context.
 */
final class ConnectionGate {
    private static final int CHECKS_PER_TIMEOUT = 4;

    private final int most;
    private final int mostOfOneAddress;
    private final long timeoutNanos;
    // the address of each
    private final Map<HttpConnection, String> open = new HashMap<>();
    // whose answer is the last that has begun: requests may come before the answers of earlier ones have gone
    private final Map<HttpConnection, Exchange> current = new HashMap<>();
    // since when a request is awaited, the earliest first
    private final Map<HttpConnection, Long> awaited = new LinkedHashMap<>();

    /**
     * Nothing is open yet.
     *
     * @param most connections at a time; one address may have half of them
     * @param timeout for the head of a request, from the opening of the connection or the end of the answer before it, and
     *     again for the body, from the head
     */
    ConnectionGate(int most, Duration timeout) {
        this.most = most;
        this.mostOfOneAddress = Math.max(1, most / 2);
        this.timeoutNanos = timeout.toNanos();
    }

    /** Begins to cut those that are late, until the verticle ends. */
    void begin(Vertx vertx) {
        long millis = Math.max(1, Duration.ofNanos(timeoutNanos).toMillis() / CHECKS_PER_TIMEOUT);
        vertx.setPeriodic(millis, tick -> cutLate());
    }

    void admit(HttpConnection connection) {
        String address = connection.remoteAddress().hostAddress();
        boolean hasRoom =
                (ofAddress(address) < mostOfOneAddress || cutOne(address)) && (open.size() < most || cutOne(null));
        if (!hasRoom) {
            connection.close();
            return;
        }
        open.put(connection, address);
        awaitRequest(connection);
        connection.closeHandler(closed -> forget(connection));
    }

    /** Passes requests on, and watches how they come. */
    Handler<HttpServerRequest> watching(Handler<HttpServerRequest> server) {
        return request -> {
            HttpConnection connection = request.connection();
            awaitRequest(connection);
            Exchange exchange = new Exchange();
            current.put(connection, exchange);
            request.end().onSuccess(whole -> {
                // an answer may be given before the request was read
                if (!exchange.answered && current.get(connection) == exchange) {
                    awaited.remove(connection);
                }
            });
            request.response().bodyEndHandler(answered -> {
                exchange.answered = true;
                if (current.get(connection) == exchange) {
                    awaitRequest(connection);
                }
            });
            server.handle(request);
        };
    }

    private void awaitRequest(HttpConnection connection) {
        awaited.remove(connection);
        if (open.containsKey(connection)) {
            awaited.put(connection, System.nanoTime());
        }
    }

    private int ofAddress(String address) {
        int count = 0;
        for (String other : open.values()) {
            count += other.equals(address) ? 1 : 0;
        }
        return count;
    }

    /** Closes the one whose request has been awaited longest, of an address or of all; false if there is none. */
    private boolean cutOne(@Nullable String address) {
        for (HttpConnection connection : awaited.keySet()) {
            if (address == null || address.equals(open.get(connection))) {
                cut(connection);
                return true;
            }
        }
        return false;
    }

    private void cutLate() {
        long now = System.nanoTime();
        for (Map.Entry<HttpConnection, Long> entry : List.copyOf(awaited.entrySet())) {
            if (now - entry.getValue() < timeoutNanos) {
                return;
            }
            cut(entry.getKey());
        }
    }

    /** It counts until it is closed, as an answer that its client does not take may still be in its way. */
    private void cut(HttpConnection connection) {
        awaited.remove(connection);
        connection.close();
    }

    private void forget(HttpConnection connection) {
        open.remove(connection);
        current.remove(connection);
        awaited.remove(connection);
    }

    private static final class Exchange {
        private boolean answered;
    }
}
