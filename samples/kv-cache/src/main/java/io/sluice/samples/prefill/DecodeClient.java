package io.sluice.samples.prefill;

import io.sluice.engine.ConnectionLostException;
import io.sluice.samples.control.ControlLink;
import io.sluice.samples.control.ControlMessage;
import io.sluice.samples.control.ControlMessage.Allocate;
import io.sluice.samples.control.ControlMessage.Hello;
import io.sluice.samples.control.ControlMessage.Last;
import io.sluice.samples.control.ControlMessage.Pages;
import io.sluice.samples.control.ControlMessage.Refused;
import io.sluice.samples.control.ControlMessage.Result;
import io.sluice.samples.control.ControlMessage.Welcome;
import io.sluice.samples.control.MalformedMessageException;
import io.sluice.samples.control.PageAssignment;
import io.sluice.samples.control.RefusedException;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.trace.TraceRequest;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * The prefill side of the conversation: sends a message and waits for its reply. If the decode side refuses, sends
 * nonsense or goes away, everything that waits, or will wait, fails with that.
 */
final class DecodeClient {
    /** How long an explanation may take that has come already, as nothing comes after the end of a connection. */
    private static final Duration EXPLANATION = Duration.ofSeconds(1);

    /** No request has this id, so it can stand for the greeting. */
    private static final long GREETING = -1;

    private final ControlLink link;
    private final Replies<Welcome> welcomes = new Replies<>();
    private final Replies<PageAssignment> assignments = new Replies<>();
    private final Replies<Result> results = new Replies<>();
    private final Sinks.One<Throwable> failure = Sinks.one();

    private DecodeClient(ControlLink link) {
        this.link = link;
    }

    /** A client that listens from now on until the connection ends. */
    static DecodeClient over(ControlLink link) {
        DecodeClient client = new DecodeClient(link);
        link.received()
                .subscribe(
                        client::arrived,
                        client::fail,
                        () -> client.fail(new ConnectionLostException("the decode side has closed the connection")));
        return client;
    }

    /** Says what is going to be moved; the answer is where to. */
    Mono<Welcome> greet(ModelPreset model) {
        return Mono.defer(() -> {
            Mono<Welcome> answer = welcomes.expect(GREETING);
            return link.send(new Hello(model.name(), model.layers(), model.pageBytes()))
                    .then(answer);
        });
    }

    /** Asks for room for a request; the answer may take until other requests have ended. */
    Mono<PageAssignment> allocate(long requestId, TraceRequest request) {
        return Mono.defer(() -> {
            Mono<PageAssignment> answer = assignments.expect(requestId);
            return link.send(new Allocate(requestId, request.inputTokens(), request.blockHashes()))
                    .then(answer);
        });
    }

    /** Says that a request's last page is written; completes when all its pages are visible to the decode side. */
    Mono<Void> last(long requestId) {
        return link.send(new Last(requestId));
    }

    /** Returns the result of the decode side's check of a request's pages. Call it before {@link #last}. */
    Mono<Result> result(long requestId) {
        return results.expect(requestId);
    }

    /**
     * Ends with what is behind an error: a decode side that refuses closes the connection, and which of the two is
     * noticed first is a matter of luck.
     *
     * @param error what a transfer ended with
     */
    <T> Mono<T> explain(Throwable error) {
        return failure.asMono()
                .timeout(EXPLANATION, Mono.just(error))
                .flatMap(first -> Mono.error(first instanceof RefusedException ? first : error));
    }

    private void arrived(ControlMessage message) {
        boolean expected = switch (message) {
            case Welcome welcome -> welcomes.arrived(GREETING, welcome);
            case Pages pages -> assignments.arrived(pages.requestId(), pages.assignment());
            case Result result -> results.arrived(result.requestId(), result);
            case Refused refused -> {
                fail(new RefusedException(refused.reason(), refused.text()));
                yield true;
            }
            case Hello _, Allocate _, Last _ -> false;
        };
        if (!expected) {
            throw new MalformedMessageException("the decode side has sent an unexpected message: "
                    + message.getClass().getSimpleName());
        }
    }

    private void fail(Throwable error) {
        failure.tryEmitValue(error);
        welcomes.fail(error);
        assignments.fail(error);
        results.fail(error);
    }

    /** The replies that are waited for, by request. Any thread. */
    static final class Replies<T> {
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
            // The first error is the cause of the later ones.
            failure = failure == null ? error : failure;
            for (Long requestId : expected.keySet()) {
                Sinks.One<T> reply = expected.remove(requestId);
                if (reply != null) {
                    reply.tryEmitError(error);
                }
            }
        }
    }
}
