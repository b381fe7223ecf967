package io.sluice.experts.backend;

import java.util.concurrent.CompletableFuture;

/** Opens communication back ends of one kind. Found by {@link java.util.ServiceLoader}. */
public interface CommBackendProvider {
    /**
     * Returns the name by which it is chosen.
     *
     * @return such as {@code sluice}, {@code nccl} or {@code nvshmem}
     */
    String name();

    /**
     * Draws what tells this group of ranks from others. Called on rank 0 alone; the other ranks get the result.
     *
     * @return at most 1,024 bytes; empty if the back end needs none
     */
    byte[] uniqueId();

    /**
     * Opens a back end. A collective: each rank opens one.
     *
     * @param settings the rank, the ranks, and what they will do
     * @return the back end, or the error why there is none
     */
    CompletableFuture<CommBackend> open(CommSettings settings);
}
