package io.sluice.engine.flow;

import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.WorkRequest;
import java.util.Objects;

/** A read or write of one element whose ranges can be changed between two runs. */
final class RetargetableTransfer extends SingleTransfer {
    private final long localBase;
    private final long localLength;
    private final long remoteLength;

    RetargetableTransfer(
            OwningFlow flow,
            WorkRequest.Opcode operation,
            ElementPlan plan,
            long localBase,
            long localLength,
            long remoteLength,
            TransferOptions options,
            TransferCallback callback) {
        super(flow, operation, plan, options, callback);
        this.localBase = localBase;
        this.localLength = localLength;
        this.remoteLength = remoteLength;
    }

    @Override
    public PreparedTransfer retarget(long localOffset, long remoteOffset, long length) {
        Objects.checkFromIndexSize(localOffset, length, localLength);
        Objects.checkFromIndexSize(remoteOffset, length, remoteLength);
        if (!hold()) {
            throw new IllegalStateException("the transfer is running, or chunks of it may still touch memory");
        }
        ranges(localBase + localOffset, remoteOffset, length);
        letGo();
        return this;
    }
}
