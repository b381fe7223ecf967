package io.sluice.engine.transport.shm;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

/** All promises for regions over the user's memory, by cross-memory attach. */
@Tag("soak")
class ShmCrossMemoryWholeContractTest extends TransportContract {
    @Override
    public TransportUnderTest transport() {
        return new ShmCrossMemoryContractTest().transport();
    }
}
