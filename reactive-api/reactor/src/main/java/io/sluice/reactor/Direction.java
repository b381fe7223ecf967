package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.VectoredTransferCallback;
import java.util.List;

/** The direction of a transfer. */
enum Direction {
    WRITE {
        @Override
        Transfer submit(
                Connection connection,
                MemoryRegion local,
                long localOffset,
                RemoteRegion remote,
                long remoteOffset,
                long length,
                TransferOptions options,
                TransferCallback callback) {
            return connection.write(local, localOffset, remote, remoteOffset, length, options, callback);
        }

        @Override
        Transfer submit(
                Connection connection,
                List<TransferElement> elements,
                TransferOptions options,
                VectoredTransferCallback callback) {
            return connection.writeVectored(elements, options, callback);
        }
    },
    READ {
        @Override
        Transfer submit(
                Connection connection,
                MemoryRegion local,
                long localOffset,
                RemoteRegion remote,
                long remoteOffset,
                long length,
                TransferOptions options,
                TransferCallback callback) {
            return connection.read(local, localOffset, remote, remoteOffset, length, options, callback);
        }

        @Override
        Transfer submit(
                Connection connection,
                List<TransferElement> elements,
                TransferOptions options,
                VectoredTransferCallback callback) {
            return connection.readVectored(elements, options, callback);
        }
    };

    abstract Transfer submit(
            Connection connection,
            MemoryRegion local,
            long localOffset,
            RemoteRegion remote,
            long remoteOffset,
            long length,
            TransferOptions options,
            TransferCallback callback);

    abstract Transfer submit(
            Connection connection,
            List<TransferElement> elements,
            TransferOptions options,
            VectoredTransferCallback callback);
}
