package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * A work request that the peer's engine executes. It is complete once the answer is here and the adapter no longer
 * needs its memory.
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

    /** The adapter reads the request's memory from now on. */
    void entersTheWire() {
        onTheWire = true;
    }

    /** The adapter no longer needs the request's memory. */
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
