package io.sluice.engine.session;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.flow.ElementPlan;
import io.sluice.engine.flow.TransferFactory;
import io.sluice.engine.memory.RegionOwner;
import io.sluice.engine.transport.WorkRequest.Opcode;

/** Creates transfers that the caller starts. */
final class PreparedOperations extends CheckedOperations<PreparedTransfer> {
    private final PeerSession session;

    PreparedOperations(PeerSession session, RegionOwner owner) {
        super(owner, null);
        this.session = session;
    }

    @Override
    TransferFactory transfers() {
        return session.transfers();
    }

    @Override
    Connection attachedBy() {
        return session.connection();
    }

    @Override
    PreparedTransfer checked(PreparedTransfer transfer) {
        return transfer;
    }

    @Override
    PreparedTransfer single(
            Opcode operation,
            ElementPlan plan,
            MemoryRegion local,
            RemoteRegion remote,
            TransferOptions options,
            TransferCallback callback) {
        return transfers().aimable(operation, plan, local.offset(), local.length(), remote.length(), options, callback);
    }
}
