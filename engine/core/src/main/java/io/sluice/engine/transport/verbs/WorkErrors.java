package io.sluice.engine.transport.verbs;

import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.jni.VerbsCompletionQueue;
import org.jspecify.annotations.Nullable;

/**
 * Describes the status of a failed work completion (InfiniBand Architecture Specification, volume 1, 10.10.2 and
 * 11.6.2).
 */
final class WorkErrors {
    private static final int ATTEMPTS = 4;

    private WorkErrors() {}

    /**
     * Returns the request's final status, or null if the path failed and the request is posted again behind a fence.
     *
     * @param status the adapter's status
     * @param request the failed request
     * @param failures how often it failed before
     * @param portActive whether the port is active
     */
    static @Nullable CompletionStatus of(int status, WorkRequest request, int failures, boolean portActive) {
        return switch (status) {
            // softRoCE reports this when it has no route for a packet
            case VerbsCompletionQueue.LOCAL_QUEUE_PAIR_OPERATION_ERROR ->
                failures < ATTEMPTS || !portActive ? null : CompletionStatus.LOCAL_MEMORY_FAULT;
            case VerbsCompletionQueue.LOCAL_LENGTH_ERROR,
                    VerbsCompletionQueue.LOCAL_PROTECTION_ERROR,
                    VerbsCompletionQueue.LOCAL_ACCESS_ERROR -> CompletionStatus.LOCAL_MEMORY_FAULT;
            // the engine has checked the request: after losses some adapters, softRoCE above all, misreport valid
            // packets as invalid
            case VerbsCompletionQueue.REMOTE_INVALID_REQUEST_ERROR ->
                request.operation().isAtomic()
                        ? CompletionStatus.OUTCOME_UNKNOWN
                        : failures < ATTEMPTS ? null : CompletionStatus.UNSUPPORTED;
            case VerbsCompletionQueue.REMOTE_ACCESS_ERROR -> CompletionStatus.ACCESS_DENIED;
            case VerbsCompletionQueue.REMOTE_OPERATION_ERROR -> CompletionStatus.REMOTE_MEMORY_FAULT;
            case VerbsCompletionQueue.FLUSHED,
                    VerbsCompletionQueue.RETRIES_EXCEEDED,
                    VerbsCompletionQueue.RECEIVER_NOT_READY_RETRIES_EXCEEDED,
                    VerbsCompletionQueue.RESPONSE_TIMEOUT_ERROR,
                    VerbsCompletionQueue.REMOTE_ABORTED_ERROR -> null;
            default -> CompletionStatus.OUTCOME_UNKNOWN;
        };
    }

    /** Whether the path to the peer is to blame rather than a request. */
    static boolean isPathFailure(int status) {
        return status == VerbsCompletionQueue.LOCAL_QUEUE_PAIR_OPERATION_ERROR
                || status == VerbsCompletionQueue.RETRIES_EXCEEDED
                || status == VerbsCompletionQueue.RECEIVER_NOT_READY_RETRIES_EXCEEDED
                || status == VerbsCompletionQueue.RESPONSE_TIMEOUT_ERROR;
    }
}
