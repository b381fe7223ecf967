package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.WorkRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The work requests that a lane has in flight: their bytes, and those that the peer's engine answers. */
final class LaneRequests {
    private final LaneContext context;
    private final LoopLanes shared;
    private final OutstandingRequests awaited = new OutstandingRequests();
    private long load;

    LaneRequests(LaneContext context, LoopLanes shared) {
        this.context = context;
        this.shared = shared;
    }

    /** Bytes in flight plus a fixed cost for each request. */
    long load() {
        return load;
    }

    /** The requests that the peer's engine answers. */
    OutstandingRequests awaited() {
        return awaited;
    }

    void begin(WorkRequest request) {
        load += request.length() + VerbsMessage.BYTES;
    }

    void complete(WorkRequest request, CompletionStatus status) {
        load -= request.length() + VerbsMessage.BYTES;
        context.completed(request, status);
    }

    /** Requests complete in the order of the peer's answers. */
    void completeAnswered() {
        AwaitedAnswer done;
        while ((done = awaited.pollDone()) != null) {
            WorkRequest request = done.request();
            CompletionStatus status = done.status();
            shared.free(done);
            complete(request, status);
        }
    }

    /** Gives a request back, to be posted again on any lane. */
    void giveUp(WorkRequest request, List<WorkRequest> again) {
        load -= request.length() + VerbsMessage.BYTES;
        again.add(request);
    }

    /** Gives a request back that the peer's engine has not received, to be posted again on any lane. */
    void giveUp(AwaitedAnswer request, List<WorkRequest> again) {
        awaited.remove(request);
        giveUp(request.request(), again);
        shared.free(request);
    }

    /** Ends the request that broke the lane, if any: a work request, or one for the peer's engine. */
    void end(@Nullable Object failedRequest, CompletionStatus status) {
        if (failedRequest instanceof AwaitedAnswer answer) {
            awaited.remove(answer);
            WorkRequest request = answer.request();
            shared.free(answer);
            complete(request, status);
            completeAnswered();
        } else if (failedRequest instanceof WorkRequest request) {
            complete(request, status);
        }
    }
}
