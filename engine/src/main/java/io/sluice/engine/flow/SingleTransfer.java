package io.sluice.engine.flow;

import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/** A transfer of one element. */
final class SingleTransfer extends DataTransfer {
    private final LeasedMemory local;
    private final long localOffset;
    private final RemoteKey remote;
    private final long remoteOffset;
    private final long length;
    private @Nullable SluiceException error;

    SingleTransfer(
            ConnectionFlow flow,
            WorkRequest.Operation operation,
            LeasedMemory local,
            long localOffset,
            RemoteKey remote,
            long remoteOffset,
            long length,
            TransferOptions options,
            TransferCallback callback) {
        super(flow, operation, options, callback);
        this.local = local;
        this.localOffset = localOffset;
        this.remote = remote;
        this.remoteOffset = remoteOffset;
        this.length = length;
    }

    @Override
    int elements() {
        return 1;
    }

    @Override
    LeasedMemory local(int element) {
        return local;
    }

    @Override
    long localOffset(int element) {
        return localOffset;
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
    long length(int element) {
        return length;
    }

    @Override
    boolean elementEnded(int element, @Nullable SluiceException failure) {
        error = failure;
        flow().count(kind(), failure, length);
        return true;
    }

    @Override
    void endUnfinished(SluiceException failure, boolean report) {
        flow().count(kind(), failure, 0);
    }

    @Override
    @Nullable
    SluiceException outcome() {
        return error;
    }
}
