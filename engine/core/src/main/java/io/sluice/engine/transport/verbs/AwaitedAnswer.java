package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * A work request that the peer's engine executes. It is done when the answer is here and the adapter is through with
 * it.
 */
final class AwaitedAnswer {
    private @Nullable WorkRequest request;
    private boolean answered;
    private boolean onTheWire;
    private CompletionStatus status = CompletionStatus.SUCCESS;

    AwaitedAnswer begin(WorkRequest work, boolean hasMemory) {
        request = work;
        answered = false;
        onTheWire = hasMemory;
        status = CompletionStatus.SUCCESS;
        return this;
    }

    WorkRequest request() {
        WorkRequest work = request;
        if (work == null) {
            throw new IllegalStateException("nothing is awaited");
        }
        return work;
    }

    void answered(CompletionStatus how) {
        answered = true;
        status = how;
    }

    boolean isAnswered() {
        return answered;
    }

    /** The adapter has the request's memory. */
    void entersTheWire() {
        onTheWire = true;
    }

    /** The adapter needs the request's memory no more. */
    void leftTheWire() {
        onTheWire = false;
    }

    boolean isDone() {
        return answered && !onTheWire;
    }

    CompletionStatus status() {
        return status;
    }

    void clear() {
        request = null;
    }
}
