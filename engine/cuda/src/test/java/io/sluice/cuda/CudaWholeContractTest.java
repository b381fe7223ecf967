package io.sluice.cuda;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** All promises, on memory of two GPUs in software. */
@Tag("soak")
class CudaWholeContractTest extends TransportContract {
    private final SoftGpuTransport transport = new SoftGpuTransport(new SoftGpuMemory(false));

    @RegisterExtension
    final TakenPaths paths = transport.paths();

    @Override
    public TransportUnderTest transport() {
        return transport;
    }
}
