package io.sluice.engine.transport.verbs;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

/** The contract between two devices with every region between two pages without access. */
@Tag("verbs")
@Tag("softroce")
@Tag("soak")
class VerbsGuardPagesContractTest extends TransportContract {
    private final TransportUnderTest transport =
            VerbsUnderTest.between(TestDevices.get(0), TestDevices.get(1)).betweenGuardPages();

    @Override
    public TransportUnderTest transport() {
        return transport;
    }
}
