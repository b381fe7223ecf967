package io.sluice.engine.session;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.flow.ElementPlan;
import io.sluice.engine.transport.WorkRequest.Operation;

/** Gives transfers to be started by whoever asked for them. */
final class PreparedOperations extends CheckedOperations<PreparedTransfer> {
    PreparedOperations(PeerSession session) {
        super(session);
    }

    @Override
    PreparedTransfer checked(PreparedTransfer transfer) {
        return transfer;
    }

    @Override
    PreparedTransfer single(
            Operation operation,
            ElementPlan plan,
            MemoryRegion local,
            RemoteRegion remote,
            TransferOptions options,
            TransferCallback callback) {
        return transfers().aimable(operation, plan, local.offset(), local.length(), remote.length(), options, callback);
    }
}
