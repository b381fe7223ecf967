package io.sluice.cuda;

import io.sluice.engine.contract.CopyContract;
import io.sluice.engine.contract.TransportUnderTest;
import java.util.Map;
import org.junit.jupiter.api.Tag;

/** What staging over tcp can break first, on memory of GPUs and of the host; the long runs have all of the contract. */
@Tag("variant")
class CudaOverTcpContractTest extends CopyContract {
    private final TransportUnderTest transport = new StagedGpuTransport(new SoftGpuMemory(true), Map.of());

    @Override
    public TransportUnderTest transport() {
        return transport;
    }
}
