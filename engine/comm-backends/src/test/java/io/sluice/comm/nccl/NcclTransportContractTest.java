package io.sluice.comm.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.contract.BulkCopyContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;

/** The part of the contract that groups are most likely to break; long runs have all of it. */
@Tag("variant")
@ExtendWith(SoftNccl.class)
class NcclTransportContractTest extends BulkCopyContract {
    private final SoftNcclTransport transport = new SoftNcclTransport();

    @Override
    public TransportUnderTest transport() {
        return transport;
    }

    @AfterEach
    void allWentOverNccl() {
        assertThat(transport.others()).isEmpty();
    }
}
