package io.sluice.engine.flow;

import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/** A transfer of one element, which ends with it. Each subclass has a length field as wide as it needs. */
abstract class OneElementTransfer extends DataTransfer {
    private final WorkRequest.Opcode operation;
    private final RemoteKey remote;
    private long remoteOffset;
    private @Nullable SluiceException error;

    OneElementTransfer(
            OwningFlow flow,
            WorkRequest.Opcode operation,
            RemoteKey remote,
            long remoteOffset,
            TransferOptions options) {
        super(flow, options);
        this.operation = operation;
        this.remote = remote;
        this.remoteOffset = remoteOffset;
    }

    final WorkRequest.Opcode operation() {
        return operation;
    }

    /** Sets the remote offset of the next run. The calling thread holds the transfer. */
    final void remoteOffset(long newOffset) {
        remoteOffset = newOffset;
    }

    @Override
    void reset() {
        super.reset();
        error = null;
    }

    @Override
    final int elements() {
        return 1;
    }

    @Override
    final WorkRequest.Opcode operation(int element) {
        return operation;
    }

    @Override
    final RemoteKey remote(int element) {
        return remote;
    }

    @Override
    final long remoteOffset(int element) {
        return remoteOffset;
    }

    @Override
    final boolean elementEnded(int element, @Nullable SluiceException failure, long postedAt) {
        error = failure;
        count(path(), failure, totalBytes(), postedAt);
        return true;
    }

    @Override
    final void endUnfinished(SluiceException failure, boolean report) {
        countFailed(path(), failure, totalBytes());
    }

    @Override
    @Nullable
    final SluiceException outcome() {
        return error;
    }
}
