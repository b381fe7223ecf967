package io.sluice.samples.command;

import io.sluice.cuda.CudaTransportProvider;
import io.sluice.cuda.GpuInfo;
import io.sluice.engine.TransportStatus;
import io.sluice.samples.bench.MemoryPlace;

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
}
