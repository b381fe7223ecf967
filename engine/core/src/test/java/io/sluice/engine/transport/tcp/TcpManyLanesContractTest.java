package io.sluice.engine.transport.tcp;

import io.sluice.engine.contract.TransportUnderTest;
import io.sluice.engine.contract.VisibilityContract;
import java.util.Map;
import org.junit.jupiter.api.Tag;

/** The contract where a connection has several lanes and an engine several pollers. */
@Tag("variant")
@Tag("filler")
class TcpManyLanesContractTest extends VisibilityContract {
    @Override
    public TransportUnderTest transport() {
        return new TransportUnderTest() {
            @Override
            public String name() {
                return "tcp";
            }

            @Override
            public boolean isVariant() {
                return true;
            }

            @Override
            public Map<String, String> environment() {
                return Map.of("SLUICE_TRANSPORTS", name(), "SLUICE_LANES", "4", "SLUICE_POLLERS", "2");
            }
        };
    }
}
