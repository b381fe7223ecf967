package io.sluice.engine.transport.faulty;

import io.sluice.engine.contract.StartAndCompletionContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInfo;

/** The same as {@link OutsideTransportPagesTest} with the longest part that a transport may take alone. */
@Tag("soak")
class OutsideTransportTest implements StartAndCompletionContract {
    @BeforeEach
    void chooseFaults(TestInfo test) {
        FaultSeed.begin(test.getTestMethod().orElseThrow().getName());
    }

    @Override
    public TransportUnderTest transport() {
        return () -> "faulty";
    }
}
