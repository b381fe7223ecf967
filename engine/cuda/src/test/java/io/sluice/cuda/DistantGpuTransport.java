package io.sluice.cuda;

import io.sluice.engine.contract.ContractMemory;
import io.sluice.engine.contract.TransportUnderTest;
import java.util.Map;

/** Verbs between two hosts with GPUs, whose memory the adapters reach; the GPUs keep the order of what adapters write. */
record DistantGpuTransport(ContractMemory memory) implements TransportUnderTest {
    @Override
    public String name() {
        return "verbs";
    }

    @Override
    public Map<String, String> environment() {
        return SoftRdma.environment(0);
    }

    @Override
    public Map<String, String> targetEnvironment() {
        return SoftRdma.environment(1);
    }

    @Override
    public boolean locksMemory() {
        return true;
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
    public boolean visibleOnCompletion() {
        return false;
    }

    @Override
    public boolean offersAdapterAtomics() {
        return true;
    }

    @Override
    public boolean noticesFreedMemory() {
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
        return 512 << 20;
    }
}
