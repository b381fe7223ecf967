package io.sluice.vertx.snippets;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferOptions;
import io.sluice.vertx.TransferConnection;
import io.vertx.core.buffer.Buffer;

final class WaitingMover {
    private WaitingMover() {}

    static void move(TransferConnection connection, MemoryRegion page, RemoteRegion remote, TransferOptions options) {
        // begin
        connection.await(with -> with.write(page, 0, remote, 0, page.length(), options));
        connection.await(with -> with.notify(Buffer.buffer("page 0"), options));
        // end
    }
}
