package io.sluice.samples.command;

import io.sluice.cuda.CudaTransportProvider;
import io.sluice.cuda.GpuInfo;
import io.sluice.engine.TransportStatus;
import io.sluice.samples.bench.MemoryPlace;
import java.util.List;

/** Finds the GPU that an option names. */
final class GpuMemory {
    private GpuMemory() {}

    /**
     * The place with its GPU's UUID.
     *
     * @param option whose value it is
     * @throws CommandFailure if there is no such GPU, or none can be used
     */
    static MemoryPlace locate(String option, MemoryPlace place) {
        if (place.isHost()) {
            return place;
        }
        TransportStatus status = new CudaTransportProvider().status();
        if (!status.isAvailable()) {
            throw CommandFailure.failed(option + " " + place + ": GPUs cannot be used here: " + status.unavailable());
        }
        try {
            return place.among(GpuInfo.all());
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(option + ": " + e.getMessage());
        }
    }

    /**
     * The memory of this rank: the first rank has the GPU that is named, the others those after it.
     *
     * @throws CommandFailure as for {@link #locate}, or if there are fewer GPUs than ranks
     */
    static MemoryPlace ofRank(MemoryPlace memory, BenchRanks ranks) {
        if (memory.isHost()) {
            return memory;
        }
        MemoryPlace first = locate("--memory", memory);
        List<String> all = GpuInfo.all().stream().map(GpuInfo::id).toList();
        for (int count : ranks.counts()) {
            ProgramCommand.require(
                    count <= all.size(),
                    "--memory " + memory + ": each rank takes a GPU; " + count + " ranks cannot share " + all.size());
        }
        return new MemoryPlace(memory.text(), all.get((all.indexOf(first.device()) + ranks.rank()) % all.size()));
    }
}
