package io.sluice.engine.transport.tcp;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

/** All promises where each frame carries checksums. */
@Tag("soak")
class TcpChecksumsWholeContractTest extends TransportContract {
    @Override
    public TransportUnderTest transport() {
        return new TcpChecksumsContractTest().transport();
    }
}
