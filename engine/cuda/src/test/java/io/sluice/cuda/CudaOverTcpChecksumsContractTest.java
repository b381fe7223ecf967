package io.sluice.cuda;

import io.sluice.engine.contract.DataPathContract;
import io.sluice.engine.contract.TransportUnderTest;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Memory of GPUs and of the host, staged over tcp, where each frame carries checksums. */
@Tag("soak")
class CudaOverTcpChecksumsContractTest extends DataPathContract {
    private final StagedGpuTransport transport =
            new StagedGpuTransport(new SoftGpuMemory(true), Map.of("SLUICE_INTEGRITY", "crc32c", "SLUICE_LANES", "2"));

    @RegisterExtension
    final TakenPaths paths = transport.paths();

    @Override
    public TransportUnderTest transport() {
        return transport;
    }
}
