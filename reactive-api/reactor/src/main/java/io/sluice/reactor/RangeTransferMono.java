package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import java.util.Objects;

/** A read or write of one range. */
final class RangeTransferMono extends TransferMono {
    private final Connection connection;
    private final Direction direction;
    private final MemoryRegion local;
    private final long localOffset;
    private final RemoteRegion remote;
    private final long remoteOffset;
    private final long length;
    private final TransferOptions options;

    RangeTransferMono(
            Connection connection,
            Direction direction,
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options) {
        this.connection = connection;
        this.direction = direction;
        this.local = Objects.requireNonNull(local, "local");
        this.localOffset = localOffset;
        this.remote = Objects.requireNonNull(remote, "remote");
        this.remoteOffset = remoteOffset;
        this.length = length;
        this.options = Objects.requireNonNull(options, "options");
    }

    @Override
    Transfer submit(TransferCallback callback) {
        return direction.submit(connection, local, localOffset, remote, remoteOffset, length, options, callback);
    }

    @Override
    long bytes() {
        return length;
    }

    @Override
    public String stepName() {
        return direction == Direction.WRITE ? "write" : "read";
    }
}
