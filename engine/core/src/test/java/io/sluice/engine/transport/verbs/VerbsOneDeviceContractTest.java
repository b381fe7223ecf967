package io.sluice.engine.transport.verbs;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

/** The promises on one device, which reaches itself. */
@Tag("softroce")
class VerbsOneDeviceContractTest extends TransportContract {
    private final TransportUnderTest transport = VerbsUnderTest.between(TestDevices.get(0), TestDevices.get(0));

    @Override
    public TransportUnderTest transport() {
        return transport;
    }
}
