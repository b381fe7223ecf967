package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics;
import io.sluice.engine.FetchCallback;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/** A transfer of a word or less that needs no local memory: a put, or an atomic operation that fetches. */
final class WordTransfer extends OneElementTransfer {
    private final int length;
    private final long operand;
    private final long expected;
    private final FetchCallback callback;
    private long fetched;

    WordTransfer(
            OwningFlow flow,
            WorkRequest.Opcode operation,
            RemoteKey remote,
            long remoteOffset,
            int length,
            long operand,
            long expected,
            TransferOptions options,
            FetchCallback callback) {
        super(flow, operation, remote, remoteOffset, options);
        this.length = length;
        this.operand = operand;
        this.expected = expected;
        this.callback = callback;
    }

    @Override
    EngineMetrics.Operation kind() {
        return switch (operation()) {
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
    void deliver(@Nullable SluiceException failure) {
        callback.terminated(this, failure == null ? fetched : 0, failure);
    }
}
