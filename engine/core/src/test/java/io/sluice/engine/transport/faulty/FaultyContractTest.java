package io.sluice.engine.transport.faulty;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInfo;

/** The contract where requests are refused for a while, and completions come late and in another order. */
@Tag("soak")
class FaultyContractTest extends TransportContract {
    @BeforeEach
    void chooseFaults(TestInfo test) {
        FaultSeed.begin(test.getTestMethod().orElseThrow().getName());
    }

    @Override
    public TransportUnderTest transport() {
        return new TransportUnderTest() {
            @Override
            public String name() {
                return "faulty";
            }

            @Override
            public boolean isVariant() {
                return true;
            }
        };
    }
}
