package io.sluice.comm.nvshmem;

import io.sluice.comm.rounds.RoundBackends;
import io.sluice.experts.backend.CommBackend;

/**
 * Symmetric memory of the ranks' GPUs for kernels of the caller's own, which store into the other ranks' at their addresses.
 * It is there for as long as the process runs, and zero when the first back end of the process is opened.
 */
public final class NvshmemMemory {
    private final long[] addresses;
    private final long bytes;

    NvshmemMemory(long[] addresses, long bytes) {
        this.addresses = addresses;
        this.bytes = bytes;
    }

    /**
     * Returns the memory of a back end.
     *
     * @param backend opened by {@link NvshmemBackendProvider}
     * @return what {@link NvshmemBackendProvider#GPU_BYTES_PROPERTY} asked for
     * @throws IllegalArgumentException if it is another back end
     */
    public static NvshmemMemory of(CommBackend backend) {
        if (RoundBackends.exchange(backend) instanceof NvshmemExchange exchange) {
            return exchange.memory();
        }
        throw new IllegalArgumentException("the back end '" + backend.type() + "' is not over NVSHMEM");
    }

    /**
     * Returns the length on each rank.
     *
     * @return bytes, 0 or more
     */
    public long bytes() {
        return bytes;
    }

    /**
     * Returns where this rank's GPU has a rank's memory.
     *
     * @param rank any rank, also this one
     * @return an address for kernels and copies; 0 if the GPU does not reach it
     */
    public long address(int rank) {
        return addresses[rank];
    }
}
