package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.until;

import io.sluice.engine.Connection;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import java.lang.foreign.Arena;

/**
 * A peer whose poller does nothing until this is closed, and which keeps one credit of the connection to it meanwhile: of an
 * atomic operation that its processors have to carry out, on every transport.
 */
final class HeldUpPeer implements AutoCloseable {
    private final Blockade blockade;
    private final FetchOutcome holder = new FetchOutcome();

    HeldUpPeer(Connection connection, Connection accepted, TransferEngine initiator, TransferEngine target) {
        MemoryRegion words =
                target.register(Arena.ofAuto().allocate(Long.BYTES, Long.BYTES), RegionOptions.readWrite());
        RemoteRegion remote = await(connection.attach(words.descriptor()));
        blockade = new Blockade(accepted, initiator);
        connection.fetchAdd(remote, 0, 0, TransferOptions.defaults(), holder);
        until("it holds a credit", () -> connection.window().operations() == 1);
    }

    @Override
    public void close() {
        blockade.close();
        holder.awaitPrevious();
    }
}
