package io.sluice.engine.transport.tcp;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

/** All promises where a connection has several lanes and an engine several pollers. */
@Tag("soak")
class TcpManyLanesWholeContractTest extends TransportContract {
    @Override
    public TransportUnderTest transport() {
        return new TcpManyLanesContractTest().transport();
    }
}
