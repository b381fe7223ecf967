package io.sluice.comm.nccl;

import io.sluice.engine.ConnectionPath;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.PathPolicy;
import io.sluice.engine.contract.ContractMemory;
import io.sluice.engine.contract.TransportUnderTest;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;

/**
 * Two engines with a GPU in software each, as on two hosts: NCCL's stand-in is between them, and tcp for words. A test that opens
 * engines has {@link SoftNccl} as well.
 */
final class SoftNcclTransport implements TransportUnderTest {
    private final ContractMemory memory = new SoftGpuBytes();
    private final ConcurrentLinkedQueue<String> others = new ConcurrentLinkedQueue<>();

    @Override
    public ContractMemory memory() {
        return memory;
    }

    @Override
    public String name() {
        return NcclTransportProvider.NAME;
    }

    private static Map<String, String> environment(int gpu) {
        return Map.of("SLUICE_TRANSPORTS", "nccl,tcp,cuda", "SLUICE_CUDA_MAPPED", "false", "SLUICE_NCCL_GPU", "" + gpu);
    }

    @Override
    public Map<String, String> environment() {
        return environment(0);
    }

    @Override
    public Map<String, String> targetEnvironment() {
        return environment(1);
    }

    /** Copies of GPU memory between connections' two GPUs that took another path. */
    ConcurrentLinkedQueue<String> others() {
        return others;
    }

    private ConnectionPath choose(PathPolicy.Question question) {
        ConnectionPath chosen = PathPolicy.inOrder().choose(question);
        if (question.use() == PathPolicy.Use.COPIES
                && question.local() == MemoryKind.CUDA
                && question.region().kind() == MemoryKind.CUDA
                && question.candidates().stream()
                        .anyMatch(each -> each.transport().equals(name()))
                && !chosen.transport().equals(name())) {
            others.add(chosen.transport());
        }
        return chosen;
    }

    @Override
    public EngineOptions.Builder options() {
        return TransportUnderTest.super.options().pathPolicy(this::choose);
    }

    @Override
    public EngineOptions.Builder targetOptions() {
        return TransportUnderTest.super.targetOptions().pathPolicy(this::choose);
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
