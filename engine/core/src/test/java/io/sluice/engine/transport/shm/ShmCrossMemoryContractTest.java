package io.sluice.engine.transport.shm;

import io.sluice.engine.contract.DataPathContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

@Tag("variant")
class ShmCrossMemoryContractTest extends DataPathContract {
    @Override
    public TransportUnderTest transport() {
        return ShmUnderTest.registered();
    }
}
