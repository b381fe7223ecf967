package io.sluice.comm.nccl;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** All promises, on memory of two GPUs in software between which NCCL's stand-in is. */
@Tag("soak")
@ExtendWith(SoftNccl.class)
class NcclTransportWholeContractTest extends TransportContract {
    private final TransportUnderTest transport = new SoftNcclTransport();

    @Override
    public TransportUnderTest transport() {
        return transport;
    }
}
