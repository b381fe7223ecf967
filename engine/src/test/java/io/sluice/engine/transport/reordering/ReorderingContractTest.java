package io.sluice.engine.transport.reordering;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;

/** The same promises where nothing arrives in order, and a write carries its signal. */
class ReorderingContractTest extends TransportContract {
    @BeforeEach
    void chooseDisorder(TestInfo test) {
        DisorderSeed.begin(test.getTestMethod().orElseThrow().getName());
    }

    @Override
    public TransportUnderTest transport() {
        return () -> "reordering";
    }
}
