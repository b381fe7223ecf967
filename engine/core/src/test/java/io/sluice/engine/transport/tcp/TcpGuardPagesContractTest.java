package io.sluice.engine.transport.tcp;

import io.sluice.engine.GuardedMemory;
import io.sluice.engine.contract.ContractMemory;
import io.sluice.engine.contract.HostMemory;
import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

/** The contract with every region between two pages without access. */
@Tag("soak")
class TcpGuardPagesContractTest extends TransportContract {
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
                return HostMemory.registered(GuardedMemory::allocate);
            }
        };
    }
}
