package io.sluice.engine.transport.verbs;

import io.sluice.engine.contract.TransportUnderTest;
import io.sluice.engine.contract.VisibilityContract;
import org.junit.jupiter.api.Tag;

/** The promises where a connection has two rails and four lanes, and an engine two pollers. */
@Tag("variant")
@Tag("verbs")
@Tag("soak")
class VerbsRailsContractTest extends VisibilityContract {
    private final TransportUnderTest transport = VerbsUnderTest.between(
                    TestDevices.get(0) + "," + TestDevices.get(2), TestDevices.get(1) + "," + TestDevices.get(3))
            .with("SLUICE_LANES", "4")
            .with("SLUICE_POLLERS", "2");

    @Override
    public TransportUnderTest transport() {
        return transport;
    }
}
