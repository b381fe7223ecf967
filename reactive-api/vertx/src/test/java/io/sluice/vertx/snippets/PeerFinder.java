package io.sluice.vertx.snippets;

import io.sluice.directory.Directory;
import io.sluice.directory.EngineEntry;
import io.sluice.vertx.TransferClient;
import io.sluice.vertx.TransferConnection;
import io.vertx.core.Future;
import io.vertx.core.Vertx;

final class PeerFinder {
    private PeerFinder() {}

    static Future<TransferConnection> find(Vertx vertx, TransferClient client, Directory directory) {
        // begin
        Future<EngineEntry> found =
                Future.fromCompletionStage(directory.find("decode/7").toFuture(), vertx.getOrCreateContext());
        return found.compose(entry -> client.connection(entry.address()));
        // end
    }
}
