package io.sluice.engine.transport.tcp;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

/** All promises with TLS on the control channel and on the lanes. */
@Tag("soak")
class TcpTlsDataWholeContractTest extends TransportContract {
    @Override
    public TransportUnderTest transport() {
        return new TcpTlsDataContractTest().transport();
    }
}
