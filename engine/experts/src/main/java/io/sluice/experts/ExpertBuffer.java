package io.sluice.experts;

import io.sluice.collectives.Team;
import java.util.concurrent.CompletableFuture;

/**
 * A team's memory for dispatch and combine: each rank has some of the experts, and memory for what the others send it.
 * All work is done on the team's loop; all methods may be called from any thread.
 *
 * <p>When a rank is lost, a call exceeds its time, or the team is revoked or closed, all pending calls of all ranks end
 * with an error, and later calls throw it.
 */
public interface ExpertBuffer extends LowLatencyOperations, NormalOperations {
    /**
     * Creates a buffer. A collective: all ranks call it with the same options. Until it has completed, they call no other
     * collectives of the team.
     *
     * @param team the ranks; stays open when the buffer is closed
     * @param options how many experts there are, and how large tokens are
     * @return the buffer; or {@link BackendUnavailableException}, {@link
     *     io.sluice.collectives.CollectiveMismatchException} if ranks have different options, {@link
     *     io.sluice.engine.RegistrationException} if the memory would be more than half of what is free, or an error of
     *     the team
     * @throws IllegalArgumentException if the experts cannot be divided among the ranks, or no buffer has such options;
     *     the others get a {@link io.sluice.collectives.CollectiveMismatchException} unless they throw it as well
     */
    static CompletableFuture<ExpertBuffer> create(Team team, ExpertOptions options) {
        return BufferFormation.create(team, options);
    }

    /**
     * Returns the options.
     *
     * @return as the buffer was created
     */
    ExpertOptions options();

    /**
     * Returns this rank.
     *
     * @return as {@link io.sluice.collectives.Team#rank()}
     */
    int rank();

    /**
     * Returns the number of ranks.
     *
     * @return as {@link io.sluice.collectives.Team#size()}
     */
    int ranks();

    /**
     * Returns the communication back end.
     *
     * @return its name, such as {@code sluice}
     */
    String backend();

    /**
     * Returns what the buffer counts on this rank.
     *
     * @return always the same object
     */
    ExpertMetrics metrics();

    /**
     * Closes the buffer: pending calls end with {@link ExpertBufferClosedException} here, and those of other ranks with
     * {@link ExpertsLostException}, as do their later ones. Memory of results is released as well. The team stays open.
     *
     * @return completes when nothing touches the buffer's memory any more; a second call has the same result
     */
    CompletableFuture<Void> closeAsync();
}
