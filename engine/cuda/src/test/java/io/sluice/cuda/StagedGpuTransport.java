package io.sluice.cuda;

import io.sluice.engine.EngineOptions;
import io.sluice.engine.contract.ContractMemory;
import io.sluice.engine.contract.TransportUnderTest;
import java.util.HashMap;
import java.util.Map;

/**
 * GPUs in software that no other process maps: what is between them goes through pinned memory and over tcp, in small pieces. Both
 * ends are in one process.
 *
 * @param memory the contract's memory
 * @param more further variables
 * @param paths records the paths
 */
record StagedGpuTransport(ContractMemory memory, Map<String, String> more, TakenPaths paths)
        implements TransportUnderTest {
    StagedGpuTransport(ContractMemory memory, Map<String, String> more) {
        this(memory, more, new TakenPaths("tcp"));
    }

    @Override
    public String name() {
        return "tcp";
    }

    @Override
    public Map<String, String> environment() {
        Map<String, String> all = new HashMap<>(more);
        all.put("SLUICE_TRANSPORTS", "tcp,cuda");
        all.put("SLUICE_CUDA_MAPPED", "false");
        all.put("SLUICE_CUDA_STAGING_BYTES", "256KiB");
        return all;
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
    public boolean isVariant() {
        return true;
    }

    @Override
    public boolean isSlow() {
        return true;
    }

    @Override
    public long mostBytesInShortRuns() {
        return 64 << 20;
    }
}
