package io.sluice.vertx.snippets;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferOptions;
import io.sluice.vertx.BlockingTransfers;
import io.sluice.vertx.TransferConnection;
import io.vertx.core.buffer.Buffer;

final class WaitingMover {
    private WaitingMover() {}

    static void move(TransferConnection connection, MemoryRegion page, RemoteRegion remote) {
        // begin
        BlockingTransfers transfers = connection.blocking();
        transfers.write(page, remote, 0);
        transfers.notify(Buffer.buffer("page 0"), TransferOptions.defaults());
        // end
    }
}
