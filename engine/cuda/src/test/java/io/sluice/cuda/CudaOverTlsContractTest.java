package io.sluice.cuda;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** All promises, on memory of GPUs and of the host, staged over lanes with TLS. */
@Tag("soak")
class CudaOverTlsContractTest extends TransportContract {
    private final StagedGpuTransport transport = new StagedGpuTransport(new SoftGpuMemory(true), TlsVariables.all());

    @RegisterExtension
    final TakenPaths paths = transport.paths();

    @Override
    public TransportUnderTest transport() {
        return transport;
    }
}
