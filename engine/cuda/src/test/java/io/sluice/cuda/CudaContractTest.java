package io.sluice.cuda;

import io.sluice.engine.contract.DataPathContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The promises about bytes, their order and the ends of transfers, on memory of two GPUs in software and of the host. */
@Tag("variant")
class CudaContractTest extends DataPathContract {
    private final SoftGpuTransport transport = new SoftGpuTransport(new SoftGpuMemory(true));

    @RegisterExtension
    final TakenPaths paths = transport.paths();

    @Override
    public TransportUnderTest transport() {
        return transport;
    }
}
