package io.sluice.engine.transport.reordering;

import io.sluice.engine.contract.SignallingTransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInfo;

/** The promises about signals where nothing arrives in order, and the engine sends each signal by itself. */
@Tag("variant")
@Tag("soak")
class ReorderingPlainContractTest extends SignallingTransportContract {
    @BeforeEach
    void chooseDisorder(TestInfo test) {
        DisorderSeed.begin(test.getTestMethod().orElseThrow().getName());
    }

    @Override
    public TransportUnderTest transport() {
        return () -> "reorderingplain";
    }
}
