package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics;
import io.sluice.engine.FetchCallback;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/** A transfer of a word or less that needs no local memory: a put, or an atomic operation that fetches. */
final class WordTransfer extends DataTransfer {
    private final WorkRequest.Operation operation;
    private final RemoteKey remote;
    private final long remoteOffset;
    private final int length;
    private final long operand;
    private final long expected;
    private final FetchCallback callback;
    private long fetched;
    private @Nullable SluiceException error;

    WordTransfer(
            OwningFlow flow,
            WorkRequest.Operation operation,
            RemoteKey remote,
            long remoteOffset,
            int length,
            long operand,
            long expected,
            TransferOptions options,
            FetchCallback callback) {
        super(flow, options);
        this.operation = operation;
        this.remote = remote;
        this.remoteOffset = remoteOffset;
        this.length = length;
        this.operand = operand;
        this.expected = expected;
        this.callback = callback;
    }

    @Override
    void reset() {
        super.reset();
        error = null;
    }

    @Override
    EngineMetrics.Operation kind() {
        return switch (operation) {
            case FETCH_ADD -> EngineMetrics.Operation.FETCH_ADD;
            case COMPARE_AND_SWAP -> EngineMetrics.Operation.COMPARE_AND_SWAP;
            default -> EngineMetrics.Operation.WRITE;
        };
    }

    @Override
    long totalBytes() {
        return length;
    }

    @Override
    int elements() {
        return 1;
    }

    @Override
    WorkRequest.Operation operation(int element) {
        return operation;
    }

    @Override
    long length(int element) {
        return length;
    }

    @Override
    @Nullable
    LeasedMemory local(int element) {
        return null;
    }

    @Override
    long localOffset(int element) {
        return 0;
    }

    @Override
    RemoteKey remote(int element) {
        return remote;
    }

    @Override
    long remoteOffset(int element) {
        return remoteOffset;
    }

    @Override
    long operand(int element) {
        return operand;
    }

    @Override
    long expected(int element) {
        return expected;
    }

    @Override
    void fetched(long word) {
        fetched = word;
    }

    @Override
    boolean elementEnded(int element, @Nullable SluiceException failure, long postedAt) {
        error = failure;
        count(failure, length, postedAt);
        return true;
    }

    @Override
    void endUnfinished(SluiceException failure, boolean report) {
        countFailed(failure, length);
    }

    @Override
    @Nullable
    SluiceException outcome() {
        return error;
    }

    @Override
    void deliver(@Nullable SluiceException failure) {
        callback.terminated(this, failure == null ? fetched : 0, failure);
    }
}
