package io.sluice.cuda;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

/** All promises, on memory of two GPUs in software and of the host. */
@Tag("soak")
class CudaMixedContractTest extends TransportContract {
    private final TransportUnderTest transport = new SoftGpuTransport(new SoftGpuMemory(true));

    @Override
    public TransportUnderTest transport() {
        return transport;
    }
}
