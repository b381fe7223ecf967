package io.sluice.engine.transport.reordering;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInfo;

/** All promises where nothing arrives in order. */
@Tag("soak")
class ReorderingWholeContractTest extends TransportContract {
    @BeforeEach
    void chooseDisorder(TestInfo test) {
        DisorderSeed.begin(test.getTestMethod().orElseThrow().getName());
    }

    @Override
    public TransportUnderTest transport() {
        return new ReorderingContractTest().transport();
    }
}
