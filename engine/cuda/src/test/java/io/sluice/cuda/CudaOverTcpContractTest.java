package io.sluice.cuda;

import io.sluice.engine.contract.CopyContract;
import io.sluice.engine.contract.TransportUnderTest;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The part of the contract that staging over tcp is most likely to break, on memory of GPUs and of the host; long runs have all of it. */
@Tag("variant")
class CudaOverTcpContractTest extends CopyContract {
    private final StagedGpuTransport transport = new StagedGpuTransport(new SoftGpuMemory(true), Map.of());

    @RegisterExtension
    final TakenPaths paths = transport.paths();

    @Override
    public TransportUnderTest transport() {
        return transport;
    }
}
