package io.sluice.cuda;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.contract.ContractMemory;
import io.sluice.engine.contract.TransportUnderTest;
import java.util.Map;

/**
 * A connection that has shm and tcp before the path that reaches GPUs; both ends in one process.
 *
 * @param memory the contract's memory
 * @param paths records the paths
 */
record SoftGpuTransport(ContractMemory memory, TakenPaths paths) implements TransportUnderTest {
    SoftGpuTransport(ContractMemory memory) {
        this(memory, new TakenPaths(CudaTransportProvider.NAME));
    }

    @Override
    public String name() {
        return "shm";
    }

    @Override
    public Map<String, String> environment() {
        return Map.of("SLUICE_TRANSPORTS", "shm,tcp,cuda", "SLUICE_SHM_PREFAULT", "false");
    }

    @Override
    public EngineOptions.Builder options() {
        return TransportUnderTest.super.options().pathPolicy(paths);
    }

    @Override
    public EngineOptions.Builder targetOptions() {
        return TransportUnderTest.super.targetOptions().pathPolicy(paths);
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
