package io.sluice.engine.transport.tcp;

import io.sluice.engine.contract.ContractMemory;
import io.sluice.engine.contract.CopiedMemory;
import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

/** The contract where no test sees a region's bytes except by a copy: so the suite can run on a device's memory. */
@Tag("soak")
class TcpCopiedMemoryContractTest extends TransportContract {
    @Override
    public TransportUnderTest transport() {
        return new TransportUnderTest() {
            @Override
            public String name() {
                return "tcp";
            }

            @Override
            public boolean isVariant() {
                return true;
            }

            @Override
            public ContractMemory memory() {
                return new CopiedMemory();
            }
        };
    }
}
