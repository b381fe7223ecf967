package io.sluice.comm.nccl;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.contract.BulkCopyContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The part of the contract that groups are most likely to break; long runs have all of it. */
@Tag("variant")
@ExtendWith(SoftNccl.class)
class NcclTransportContractTest extends BulkCopyContract {
    private final SoftNcclTransport transport = new SoftNcclTransport();

    @Override
    public TransportUnderTest transport() {
        return transport;
    }

    // a communicator has no lanes: one number of them is enough

    @Override
    @ParameterizedTest
    @ValueSource(ints = 1)
    public void sizesThereAndBack(int lanes) {
        super.sizesThereAndBack(lanes);
    }

    @Override
    @ParameterizedTest
    @ValueSource(ints = 1)
    public void oddOffsetsThereAndBack(int lanes) {
        super.oddOffsetsThereAndBack(lanes);
    }

    @Override
    @ParameterizedTest
    @ValueSource(ints = 1)
    public void bothDirectionsAtOnce(int lanes) {
        super.bothDirectionsAtOnce(lanes);
    }

    @AfterEach
    void allWentOverNccl() {
        assertThat(transport.others()).isEmpty();
    }
}
