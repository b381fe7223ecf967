package io.sluice.collectives;

import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import java.util.concurrent.CompletableFuture;

/**
 * A region of each rank of a team, attached on all others: what transfers between ranks that are not collectives need.
 * Created by {@link Team#share}. All methods may be called from any thread.
 */
public interface SharedRegion {
    /**
     * Returns this rank's region.
     *
     * @return the region that was shared
     */
    MemoryRegion local();

    /**
     * Returns another rank's region, attached on the team's connection to it, which {@link Team#loop()} drives.
     *
     * @param rank a rank, not this one
     * @return the region, until the attachment or the connection ends
     * @throws IndexOutOfBoundsException if there is no such rank
     * @throws IllegalArgumentException if it is this rank
     */
    RemoteRegion of(int rank);

    /**
     * Detaches the regions of the other ranks here. Not a collective. This rank's region stays open, and attached on the
     * others until they detach it, it is closed, or the team is.
     *
     * @return completes when they are detached or their connections have ended; a second call has the same result
     */
    CompletableFuture<Void> closeAsync();
}
