package io.sluice.cuda;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

/** All promises, between GPUs of two hosts over verbs. */
@Tag("soak")
@DisabledIfSystemProperty(
        named = "sluice.cuda.real",
        matches = "true",
        disabledReason = "adapters in software do not reach it")
class DistantGpuWholeContractTest extends TransportContract {
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
