package io.sluice.engine.transport.verbs;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.CompletionStatus;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a lane that the peer's engine answers, in the order in which it receives them. A count answers the
 * successful ones; the others have an answer each, in their turn.
 */
final class OutstandingRequests {
    private final ArrayDeque<AwaitedAnswer> queue = new ArrayDeque<>();
    private long answered;

    boolean isEmpty() {
        return queue.isEmpty();
    }

    void add(AwaitedAnswer request) {
        queue.addLast(request);
    }

    /** Removes a request that the peer will not receive. */
    void remove(AwaitedAnswer request) {
        queue.remove(request);
    }

    /** The peer has answered this many, modulo 2^32. Returns true if some are new. */
    boolean succeedTo(int count) {
        long total = answered + (count - (int) answered);
        boolean some = answered < total;
        while (answered < total) {
            answerNext(CompletionStatus.SUCCESS);
        }
        return some;
    }

    /** The peer has answered the request of this number, 1 for the first; all before it have succeeded. */
    void answer(long number, int status, long value) {
        if (number <= answered) {
            throw new ProtocolException("the peer answered a request twice");
        }
        while (answered < number - 1) {
            answerNext(CompletionStatus.SUCCESS);
        }
        if (status == 0) {
            next().request().fetched(value);
            answerNext(CompletionStatus.SUCCESS);
        } else {
            answerNext(CompletionStatus.refusal(status));
        }
    }

    private void answerNext(CompletionStatus status) {
        next().answered(status);
        answered++;
    }

    private AwaitedAnswer next() {
        AwaitedAnswer oldest = queue.peekFirst();
        if (oldest != null && !oldest.isAnswered()) {
            return oldest;
        }
        for (AwaitedAnswer each : queue) {
            if (!each.isAnswered()) {
                return each;
            }
        }
        throw new ProtocolException("the peer answered a request that was not sent");
    }

    /** Returns the oldest request if it is answered and its memory is free; or null. */
    @Nullable
    AwaitedAnswer pollDone() {
        AwaitedAnswer oldest = queue.peekFirst();
        return oldest != null && oldest.isDone() ? queue.pollFirst() : null;
    }

    /** Removes the oldest request, done or not; or null. */
    @Nullable
    AwaitedAnswer poll() {
        return queue.pollFirst();
    }
}
