package io.sluice.engine.transport.device;

import io.sluice.engine.contract.TransportContract;
import io.sluice.engine.contract.TransportUnderTest;
import org.junit.jupiter.api.Tag;

/** All promises on a device's memory. */
@Tag("soak")
class DeviceWholeContractTest extends TransportContract {
    @Override
    public TransportUnderTest transport() {
        return new DeviceContractTest().transport();
    }
}
