package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.VerbsCompletionQueue;
import org.jspecify.annotations.Nullable;

/** Attributes a broken lane to one of its requests, to the path to the peer, or to neither. */
@SuppressWarnings("ReferenceEquality") // requests are their own identities
final class LaneFault {
    /** The breaks under one request after which the connection fails. */
    static final int MAX_BREAKS = 8;

    private final LaneContext context;
    private final int lane;
    private final Rail rail;
    private @Nullable Object failedRequest;
    private @Nullable VerbsRemoteKey key;
    private CompletionStatus status = CompletionStatus.ACCESS_DENIED;
    private boolean ofPath;

    LaneFault(LaneContext context, int lane, Rail rail) {
        this.context = context;
        this.lane = lane;
        this.rail = rail;
    }

    /** Decides whether the request at the first slot or the path is to blame. */
    void blame(SendRing places, int workStatus) {
        Object first = places.peek(0);
        boolean bytesOfSignal = first == LaneSendQueue.PART;
        if (bytesOfSignal) {
            first = places.peek(1);
        }
        WorkRequest request = first instanceof WorkRequest work
                ? work
                : first instanceof AwaitedAnswer answer ? answer.request() : null;
        if (request != null) {
            int failures = context.countFailure(request);
            CompletionStatus end = WorkErrors.of(workStatus, request, failures, rail.isPortActive());
            if (end != null) {
                failedRequest = first;
                status = end;
                boolean signal = first == request && request.hasSignal() && !bytesOfSignal;
                key = (VerbsRemoteKey) (signal ? request.signal() : request.remote());
            } else if (failures >= MAX_BREAKS) {
                context.failed("lane " + lane + " broke repeatedly under the same request: "
                        + VerbsCompletionQueue.statusText(workStatus));
            }
        }
        ofPath |= WorkErrors.isPathFailure(workStatus);
    }

    /** The send queue's entry for the request that caused the fault, or null. */
    @Nullable
    Object failedRequest() {
        return failedRequest;
    }

    /** Returns {@link #failedRequest()} and clears it. */
    @Nullable
    Object takeCulprit() {
        Object taken = failedRequest;
        failedRequest = null;
        return taken;
    }

    /** The status with which the blamed request ends. */
    CompletionStatus status() {
        return status;
    }

    /** The blamed request has ended. */
    void ended() {
        status = CompletionStatus.ACCESS_DENIED;
    }

    /**
     * Returns the handle of the region to which the peer's adapter refused access, if the peer is to explain why; or
     * null.
     */
    @Nullable
    VerbsRemoteKey keyInQuestion() {
        return failedRequest != null && status == CompletionStatus.ACCESS_DENIED ? key : null;
    }

    /** The peer reports that the region is closed. */
    void regionUnknown() {
        status = CompletionStatus.UNKNOWN_REGION;
        VerbsRemoteKey ended = key;
        if (ended != null) {
            ended.end();
        }
    }

    /** The path failed. */
    void blamePath() {
        ofPath = true;
    }

    boolean isOfPath() {
        return ofPath;
    }

    /** The path may work again. */
    void pathForgiven() {
        ofPath = false;
    }
}
