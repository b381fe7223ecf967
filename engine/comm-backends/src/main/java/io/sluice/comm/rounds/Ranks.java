package io.sluice.comm.rounds;

import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.Team;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** What the ranks tell each other over the team. */
public final class Ranks {
    private Ranks() {}

    /**
     * Gives all ranks the bytes of each. A collective.
     *
     * @param team the ranks
     * @param own as many bytes on all ranks, at least 1
     * @return by rank; completes on no loop
     */
    public static CompletableFuture<List<byte[]>> gather(Team team, byte[] own) {
        CompletableFuture<List<byte[]>> gathered = new CompletableFuture<>();
        MemoryRegion all;
        try {
            all = team.engine().allocate((team.size() + 1L) * own.length, RegionOptions.local());
        } catch (SluiceException engineIsClosed) {
            return CompletableFuture.failedFuture(engineIsClosed);
        }
        MemorySegment.copy(MemorySegment.ofArray(own), 0, all.segment(), 0, own.length);
        try {
            team.allGather(
                    all,
                    0,
                    all,
                    own.length,
                    own.length,
                    ElementType.UINT8,
                    CollectiveOptions.defaults(),
                    (called, error) -> {
                        if (error == null) {
                            gathered.complete(parts(team.size(), all.segment(), own.length));
                        } else {
                            gathered.completeExceptionally(error);
                        }
                        all.close();
                    });
        } catch (SluiceException teamHasFailed) {
            all.close();
            gathered.completeExceptionally(teamHasFailed);
        }
        // what follows may wait for the system
        return gathered.thenApplyAsync(parts -> parts);
    }

    private static List<byte[]> parts(int ranks, MemorySegment all, int length) {
        List<byte[]> parts = new ArrayList<>();
        for (int rank = 0; rank < ranks; rank++) {
            parts.add(all.asSlice((rank + 1L) * length, length).toArray(ValueLayout.JAVA_BYTE));
        }
        return parts;
    }
}
