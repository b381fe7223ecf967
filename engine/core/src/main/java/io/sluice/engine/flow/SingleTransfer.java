package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/** A read or write of one element. */
class SingleTransfer extends OneElementTransfer {
    private final TransferCallback callback;
    private final LeasedMemory local;
    private long localOffset;
    private long length;

    SingleTransfer(
            OwningFlow flow,
            WorkRequest.Opcode operation,
            ElementPlan plan,
            TransferOptions options,
            TransferCallback callback) {
        this(
                flow,
                operation,
                plan.local(),
                plan.localOffset(),
                plan.remote(),
                plan.remoteOffset(),
                plan.length(),
                options,
                callback);
    }

    SingleTransfer(
            OwningFlow flow,
            WorkRequest.Opcode operation,
            LeasedMemory local,
            long localOffset,
            RemoteKey remote,
            long remoteOffset,
            long length,
            TransferOptions options,
            TransferCallback callback) {
        super(flow, operation, remote, remoteOffset, options);
        this.callback = callback;
        this.local = local;
        this.localOffset = localOffset;
        this.length = length;
    }

    /** The next run's ranges, which have been checked. The calling thread holds it. */
    final void ranges(long newLocalOffset, long newRemoteOffset, long newLength) {
        localOffset = newLocalOffset;
        remoteOffset(newRemoteOffset);
        length = newLength;
    }

    @Override
    EngineMetrics.Operation kind() {
        return operation() == WorkRequest.Opcode.WRITE ? EngineMetrics.Operation.WRITE : EngineMetrics.Operation.READ;
    }

    @Override
    boolean mayCompleteOnDevice() {
        return true;
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
    LeasedMemory local(int element) {
        return local;
    }

    @Override
    long localOffset(int element) {
        return localOffset;
    }

    @Override
    long callerThreadBytes() {
        return length;
    }

    @Override
    void deliver(@Nullable SluiceException failure) {
        callback.terminated(this, failure);
    }
}
