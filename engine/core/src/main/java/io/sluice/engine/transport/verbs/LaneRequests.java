package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.WorkRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The work requests that a lane has under way: how much they are, and those that the peer's engine answers. */
final class LaneRequests {
    private final LaneContext context;
    private final LoopLanes shared;
    private final OutstandingRequests awaited = new OutstandingRequests();
    private long load;

    LaneRequests(LaneContext context, LoopLanes shared) {
        this.context = context;
        this.shared = shared;
    }

    /** Bytes under way, with a share for each request's own cost. */
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

    /** Requests complete in the order in which the peer answers them. */
    void completeAnswered() {
        AwaitedAnswer done;
        while ((done = awaited.pollDone()) != null) {
            WorkRequest request = done.request();
            CompletionStatus status = done.status();
            shared.free(done);
            complete(request, status);
        }
    }

    /** A request of this lane is to be posted once more, on any lane. */
    void giveUp(WorkRequest request, List<WorkRequest> again) {
        load -= request.length() + VerbsMessage.BYTES;
        again.add(request);
    }

    /** A request that the peer's engine has not got is to be posted once more, on any lane. */
    void giveUp(AwaitedAnswer request, List<WorkRequest> again) {
        awaited.remove(request);
        giveUp(request.request(), again);
        shared.free(request);
    }

    /** Ends the one that broke the lane, if any: a work request, or one that the peer's engine was to answer. */
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
