package io.sluice.engine.transport.shm;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;

class ShmContractTest extends TransportContract {
    @Override
    public TransportUnderTest transport() {
        return ShmUnderTest.allocated();
    }
}
