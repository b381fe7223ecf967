package io.sluice.engine.contract;

import static io.sluice.testkit.Patience.await;

import io.sluice.engine.Connection;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import java.util.concurrent.CountDownLatch;

/** Keeps a poller from doing anything until it is closed. */
final class Blockade implements AutoCloseable {
    private final CountDownLatch held = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);

    /** The poller of this side of a connection; the other side lends a region for it. */
    Blockade(Connection side, TransferEngine other) {
        RemoteRegion remote =
                await(side.attach(other.allocate(8, RegionOptions.readWrite()).descriptor()));
        // an atomic operation ends on the poller, on every transport
        side.fetchAdd(remote, 0, 0, TransferOptions.defaults(), (transfer, previous, error) -> {
            held.countDown();
            await(release);
        });
        await(held);
    }

    /** The poller of the target's side. */
    static Blockade ofTarget(EnginePair pair) {
        return new Blockade(pair.accepted(), pair.initiator());
    }

    /** The poller of the initiator's side. */
    static Blockade ofInitiator(EnginePair pair) {
        return new Blockade(pair.connection(), pair.target());
    }

    @Override
    public void close() {
        release.countDown();
    }
}
