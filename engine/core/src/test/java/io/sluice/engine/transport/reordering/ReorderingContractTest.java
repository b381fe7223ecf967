package io.sluice.engine.transport.reordering;

import io.sluice.engine.contract.TransportUnderTest;
import io.sluice.engine.contract.VisibilityContract;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInfo;

/** The contract where nothing arrives in order, and a write carries its signal. */
@Tag("variant")
@Tag("filler")
class ReorderingContractTest extends VisibilityContract {
    @BeforeEach
    void chooseDisorder(TestInfo test) {
        DisorderSeed.begin(test.getTestMethod().orElseThrow().getName());
    }

    @Override
    public TransportUnderTest transport() {
        return new TransportUnderTest() {
            @Override
            public String name() {
                return "reordering";
            }

            @Override
            public boolean isVariant() {
                return true;
            }
        };
    }
}
