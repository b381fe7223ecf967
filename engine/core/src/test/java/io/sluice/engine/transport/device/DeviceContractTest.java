package io.sluice.engine.transport.device;

import io.sluice.engine.contract.ContractMemory;
import io.sluice.engine.contract.TransportUnderTest;
import io.sluice.engine.contract.VisibilityContract;
import java.util.Map;
import org.junit.jupiter.api.Tag;

/** The same promises on a device's memory, over a connection that has shm and tcp before the path that reaches it. */
@Tag("variant")
@Tag("soak")
class DeviceContractTest extends VisibilityContract {
    @Override
    public TransportUnderTest transport() {
        return new TransportUnderTest() {
            @Override
            public String name() {
                return "shm";
            }

            @Override
            public Map<String, String> environment() {
                return Map.of("SLUICE_TRANSPORTS", "shm,tcp,device", "SLUICE_SHM_PREFAULT", "false");
            }

            @Override
            public boolean crossesProcesses() {
                return false;
            }

            @Override
            public boolean needsTargetToRun() {
                return false;
            }

            @Override
            public ContractMemory memory() {
                return new DeviceMemory();
            }

            @Override
            public boolean isVariant() {
                return true;
            }

            @Override
            public long mostBytesInShortRuns() {
                return 512 << 20;
            }
        };
    }
}
