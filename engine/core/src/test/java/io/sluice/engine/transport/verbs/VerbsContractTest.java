package io.sluice.engine.transport.verbs;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

/** The promises between two devices. */
@Tag("verbs")
@Tag("softroce")
class VerbsContractTest extends TransportContract {
    private final TransportUnderTest transport = VerbsUnderTest.between(TestDevices.get(0), TestDevices.get(1));

    @Override
    public TransportUnderTest transport() {
        return transport;
    }
}
