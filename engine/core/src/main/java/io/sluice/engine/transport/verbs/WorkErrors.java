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
     * How the request ends, or null if it is the path that failed, so that it is sent again behind a fence.
     *
     * @param status as the adapter gives it
     * @param request which failed
     * @param failures how often it has failed before
     * @param portActive whether the port is up
     */
    static @Nullable CompletionStatus of(int status, WorkRequest request, int failures, boolean portActive) {
        return switch (status) {
            // softRoCE says so when it has no route for a packet
            case VerbsCompletionQueue.LOCAL_QUEUE_PAIR_OPERATION_ERROR ->
                failures < ATTEMPTS || !portActive ? null : CompletionStatus.LOCAL_MEMORY_FAULT;
            case VerbsCompletionQueue.LOCAL_LENGTH_ERROR,
                    VerbsCompletionQueue.LOCAL_PROTECTION_ERROR,
                    VerbsCompletionQueue.LOCAL_ACCESS_ERROR -> CompletionStatus.LOCAL_MEMORY_FAULT;
            // nothing is wrong with what the engine has checked: adapters take packets amiss after losses, softRoCE
            // above all
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

    /** Whether the path to the peer is to blame, rather than a request. */
    static boolean isPathFailure(int status) {
        return status == VerbsCompletionQueue.LOCAL_QUEUE_PAIR_OPERATION_ERROR
                || status == VerbsCompletionQueue.RETRIES_EXCEEDED
                || status == VerbsCompletionQueue.RECEIVER_NOT_READY_RETRIES_EXCEEDED
                || status == VerbsCompletionQueue.RESPONSE_TIMEOUT_ERROR;
    }
}
