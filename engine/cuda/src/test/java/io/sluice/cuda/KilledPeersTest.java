package io.sluice.cuda;

import org.junit.jupiter.api.Test;

/** Processes that are killed take nothing with them; {@link KilledPeers} does it many times, and says how long it takes. */
class KilledPeersTest {
    @Test
    void what_is_under_way_ends_and_memory_comes_back() throws Exception {
        SoftGpu.load();
        try (KilledPeers peers = new KilledPeers()) {
            peers.openNothing(10_000);
            peers.killOwner(1);
            peers.killInitiator(2);
            peers.leaveAndKill();
        }
    }
}
