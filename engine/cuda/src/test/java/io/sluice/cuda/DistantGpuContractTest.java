package io.sluice.cuda;

import io.sluice.engine.contract.TransportUnderTest;
import io.sluice.engine.contract.VisibilityContract;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/** The contract's tests of bytes and their order at the target, between GPUs of two hosts over verbs. */
@Tag("variant")
@DisabledIfSystemProperty(
        named = "sluice.cuda.real",
        matches = "true",
        disabledReason = "adapters in software do not reach it")
@Tag("soak")
class DistantGpuContractTest extends VisibilityContract {
    private final TransportUnderTest transport = new DistantGpuTransport(new SoftGpuMemory(true));

    @Override
    public TransportUnderTest transport() {
        return transport;
    }

    @BeforeEach
    void keepOrder() {
        SoftGpu.rdma(100, 0);
    }

    @AfterEach
    void asEver() {
        SoftGpu.rdma(0, 1);
    }
}
