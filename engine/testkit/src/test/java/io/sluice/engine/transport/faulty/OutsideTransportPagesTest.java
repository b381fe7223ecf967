package io.sluice.engine.transport.faulty;

import io.sluice.engine.contract.PagesContract;
import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInfo;

/**
 * How a transport from outside the engine runs the contract: one class, and a line under {@code META-INF/services}. Here with
 * one of its parts, as the engine's build runs all of them on this transport; elsewhere such a class extends
 * {@link TransportContract}.
 */
class OutsideTransportPagesTest implements PagesContract {
    @BeforeEach
    void chooseFaults(TestInfo test) {
        FaultSeed.begin(test.getTestMethod().orElseThrow().getName());
    }

    @Override
    public TransportUnderTest transport() {
        return () -> "faulty";
    }
}
