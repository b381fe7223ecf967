package io.sluice.engine.transport.tcp;

import io.sluice.engine.contract.TransportUnderTest;
import io.sluice.engine.contract.WireContract;
import java.util.Map;
import org.junit.jupiter.api.Tag;

/** What the form of the bytes on the wire can break, with TLS on the control channel and on the lanes. */
@Tag("variant")
@Tag("filler")
class TcpTlsDataContractTest extends WireContract {
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
                return TlsVariables.with(
                        "SLUICE_TRANSPORTS",
                        name(),
                        "SLUICE_TLS_DATA",
                        "true",
                        "SLUICE_LANES",
                        "2",
                        "SLUICE_POLLERS",
                        "2");
            }
        };
    }
}
