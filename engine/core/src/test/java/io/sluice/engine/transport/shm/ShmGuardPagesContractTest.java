package io.sluice.engine.transport.shm;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

/** The contract with every region, and every mapping of it by a peer, right at a page without access. */
@Tag("soak")
class ShmGuardPagesContractTest extends TransportContract {
    @Override
    public TransportUnderTest transport() {
        return ShmUnderTest.guarded();
    }
}
