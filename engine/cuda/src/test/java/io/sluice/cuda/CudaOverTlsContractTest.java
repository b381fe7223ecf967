package io.sluice.cuda;

import io.sluice.engine.contract.CopyContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

/** What staging can break first, on memory of GPUs and of the host, over lanes with TLS. */
@Tag("variant")
class CudaOverTlsContractTest extends CopyContract {
    private final TransportUnderTest transport = new StagedGpuTransport(new SoftGpuMemory(true), TlsVariables.all());

    @Override
    public TransportUnderTest transport() {
        return transport;
    }
}
