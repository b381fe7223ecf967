package io.sluice.samples.prefill;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The replies that are waited for, by request. Any thread.
 *
 * @param <T> what a reply is
 */
final class Replies<T> {

    private final Map<Long, Sinks.One<T>> expected = new ConcurrentHashMap<>();
    private volatile @Nullable Throwable failure;

    /** The reply for a request; expected from now on, not from the subscription on. */
    Mono<T> expect(long requestId) {
        Sinks.One<T> reply = Sinks.one();
        expected.put(requestId, reply);
        Throwable failed = failure;
        if (failed != null) {
            // A concurrent failure may have missed this one.
            reply.tryEmitError(failed);
        }
        return reply.asMono();
    }

    /** Hands a reply over; false if it was not expected. */
    boolean arrived(long requestId, T value) {
        Sinks.One<T> reply = expected.remove(requestId);
        if (reply == null) {
            return false;
        }
        reply.tryEmitValue(value);
        return true;
    }

    /** No reply will come any more, to requests of the past and of the future. One caller at a time. */
    void fail(Throwable error) {
        // What came first is the cause of what follows.
        failure = failure == null ? error : failure;
        for (Long requestId : expected.keySet()) {
            Sinks.One<T> reply = expected.remove(requestId);
            if (reply != null) {
                reply.tryEmitError(error);
            }
        }
    }
}
