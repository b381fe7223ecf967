package io.sluice.engine.transport.shm;

import io.sluice.engine.contract.MemoryContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

@Tag("variant")
@Tag("filler")
class ShmCrossMemoryContractTest extends MemoryContract {
    @Override
    public TransportUnderTest transport() {
        return ShmUnderTest.registered();
    }
}
