package io.sluice.experts.sluice;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.Team;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RegistrationException;
import io.sluice.engine.SluiceException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** All ranks allocate the same length, or none allocates. */
final class AllocationAgreement {
    private static final long REFUSED = 0;

    private AllocationAgreement() {}

    /**
     * Agrees with the other ranks.
     *
     * @param refusal why this rank cannot allocate, or null
     */
    static CompletableFuture<Void> agree(Team team, long bytes, @Nullable SluiceException refusal) {
        MemoryRegion lengths = team.engine().allocate((team.size() + 1L) * Long.BYTES, RegionOptions.local());
        lengths.segment().setAtIndex(ValueLayout.JAVA_LONG, 0, refusal == null ? bytes : REFUSED);
        CompletableFuture<Void> agreed = new CompletableFuture<>();
        try {
            team.allGather(
                    lengths,
                    0,
                    lengths,
                    Long.BYTES,
                    1,
                    ElementType.INT64,
                    CollectiveOptions.defaults(),
                    (called, error) -> {
                        SluiceException failure = refusal;
                        if (failure == null) {
                            failure = error == null ? difference(team, bytes, lengths.segment()) : error;
                        }
                        lengths.close();
                        if (failure == null) {
                            agreed.complete(null);
                        } else {
                            agreed.completeExceptionally(failure);
                        }
                    });
        } catch (SluiceException teamHasFailed) {
            lengths.close();
            agreed.completeExceptionally(teamHasFailed);
        }
        // not on the team's loop: what follows may wait for the system
        return agreed.thenApplyAsync(nothing -> nothing);
    }

    private static @Nullable SluiceException difference(Team team, long bytes, MemorySegment lengths) {
        for (int rank = 0; rank < team.size(); rank++) {
            long other = lengths.getAtIndex(ValueLayout.JAVA_LONG, rank + 1L);
            if (other == REFUSED) {
                return new RegistrationException("rank " + rank + " of " + team + " cannot allocate its " + bytes
                        + " bytes of symmetric memory");
            }
            if (other != bytes) {
                return new CollectiveMismatchException("rank " + rank + " of " + team + " allocates " + other
                        + " bytes of symmetric memory, and rank " + team.rank() + " " + bytes);
            }
        }
        return null;
    }
}
