package io.sluice.engine.transport.tcp;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;

class TcpContractTest extends TransportContract {
    @Override
    public TransportUnderTest transport() {
        return () -> "tcp";
    }
}
