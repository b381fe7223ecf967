package io.sluice.cuda;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

/** All promises, on memory of GPUs and of the host, staged over lanes with TLS. */
@Tag("soak")
class CudaOverTlsWholeContractTest extends TransportContract {
    private final TransportUnderTest transport = new CudaOverTlsContractTest().transport();

    @Override
    public TransportUnderTest transport() {
        return transport;
    }
}
