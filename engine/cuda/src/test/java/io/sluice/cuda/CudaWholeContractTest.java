package io.sluice.cuda;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

/** All promises, on memory of two GPUs in software. */
@Tag("soak")
class CudaWholeContractTest extends TransportContract {
    private final TransportUnderTest transport = new SoftGpuTransport(new SoftGpuMemory(false));

    @Override
    public TransportUnderTest transport() {
        return transport;
    }
}
