package io.sluice.engine.transport.verbs;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

/** All promises where a connection has two rails and four lanes, and an engine two pollers. */
@Tag("soak")
@Tag("verbs")
class VerbsRailsWholeContractTest extends TransportContract {
    private final TransportUnderTest transport = new VerbsRailsContractTest().transport();

    @Override
    public TransportUnderTest transport() {
        return transport;
    }
}
