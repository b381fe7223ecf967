package io.sluice.cuda;

import io.sluice.engine.contract.ContractMemory;
import io.sluice.engine.contract.TransportUnderTest;
import java.util.Map;

/** A connection that has shm and tcp before the path that reaches GPUs; both ends in one process. */
record SoftGpuTransport(ContractMemory memory) implements TransportUnderTest {
    @Override
    public String name() {
        return "shm";
    }

    @Override
    public Map<String, String> environment() {
        return Map.of("SLUICE_TRANSPORTS", "shm,tcp,cuda", "SLUICE_SHM_PREFAULT", "false");
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
    public boolean closeNeedsThePeersWord() {
        return true;
    }

    @Override
    public boolean isVariant() {
        return true;
    }

    @Override
    public long mostBytesInShortRuns() {
        return 512 << 20;
    }
}
