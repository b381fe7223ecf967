package io.sluice.cuda;

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
 */
record StagedGpuTransport(ContractMemory memory, Map<String, String> more) implements TransportUnderTest {
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
    public boolean crossesProcesses() {
        return false;
    }

    @Override
    public boolean isVariant() {
        return true;
    }

    @Override
    public long mostBytesInShortRuns() {
        return 64 << 20;
    }
}
