package io.sluice.samples.compare;

import io.sluice.cuda.GpuInfo;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransportStatus;
import io.sluice.samples.bench.RegionMemory;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How the bytes of a transfer of this engine get from one process into the other one's memory. */
enum Route {
    /** Over sockets. */
    TCP("tcp", "", RegionMemory.ALLOCATED, Map.of()),
    /** Over sockets, with a checksum of each chunk. */
    TCP_CRC32C("tcp", "crc32c-", RegionMemory.ALLOCATED, Map.of("SLUICE_INTEGRITY", "crc32c")),
    /** Copied by the initiator between memory that the engines have allocated, of which it has the peer's mapped. */
    SHM("shm", "shm-", RegionMemory.ALLOCATED, Map.of()),
    /** Copied by the kernel, between memory that the programs have registered. */
    CROSS_MEMORY("shm", "cross-memory-", RegionMemory.REGISTERED, Map.of("SLUICE_SHM_CROSS_MEMORY_ATTACH", "true")),
    /** By a GPU of this process into that of another one, in windows that hold the largest transfer. */
    GPUS("cuda", "gpu-", RegionMemory.ALLOCATED, Map.of("SLUICE_WINDOW_BYTES", "1GiB")),
    /** Between memory of the host, which the initiator has, and a GPU. */
    HOST_AND_GPU("cuda", "gpu-host-", RegionMemory.ALLOCATED, Map.of("SLUICE_WINDOW_BYTES", "1GiB")),
    /** Between GPUs, which map nothing of each other, over sockets. */
    STAGED_GPUS("tcp", "gpu-staged-", RegionMemory.ALLOCATED, Map.of("SLUICE_CUDA_MAPPED", "false")),
    /** Over sockets between memory of the host, bound to no processor, as what takes GPUs is. */
    TCP_UNBOUND("tcp", "unbound-", RegionMemory.ALLOCATED, Map.of());

    private static final String CUDA = "cuda";

    private final String transport;
    private final String prefix;
    private final RegionMemory regions;
    private final Map<String, String> environment;

    Route(String transport, String prefix, RegionMemory regions, Map<String, String> environment) {
        this.transport = transport;
        this.prefix = prefix;
        this.regions = regions;
        this.environment = environment;
    }

    String transport() {
        return transport;
    }

    /** The options that make {@code bench} take this route. */
    String options() {
        return switch (this) {
            case GPUS -> "--memory cuda:0 --server-memory cuda:1";
            case HOST_AND_GPU -> "--server-memory cuda:0";
            case STAGED_GPUS -> "--transport tcp,cuda --memory cuda:0 --server-memory cuda:1";
            default -> "--transport " + transport;
        };
    }

    /** How many GPUs it takes. */
    int gpus() {
        return switch (this) {
            case GPUS, STAGED_GPUS -> 2;
            case HOST_AND_GPU -> 1;
            default -> 0;
        };
    }

    /** Whether its processes are bound to processors: drivers have threads of their own. */
    boolean isBound() {
        return gpus() == 0 && this != TCP_UNBOUND;
    }

    String prefix() {
        return prefix;
    }

    /** Whose memory the regions are of, on both sides. */
    RegionMemory regions() {
        return regions;
    }

    Map<String, String> environment() {
        return environment;
    }

    /** Why it cannot be taken here, or {@code null} if it can as far as is known. */
    @Nullable
    String unavailable() {
        String needed = gpus() > 0 ? CUDA : transport;
        for (TransportStatus status : TransferEngine.transports()) {
            if (status.name().equals(needed)) {
                return status.isAvailable()
                        ? tooFewGpus()
                        : "transport " + needed + " is not available here: " + status.unavailable();
            }
        }
        return "this program has no transport " + needed;
    }

    private @Nullable String tooFewGpus() {
        int there = gpus() == 0 ? 0 : GpuInfo.all().size();
        return there < gpus() ? "it takes " + gpus() + " GPUs, and there is " + there : null;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
}
