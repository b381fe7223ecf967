package io.sluice.experts;

import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.Team;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** An exchange between the ranks that create a buffer. */
final class TeamExchange {
    private TeamExchange() {}

    /** Gives all ranks the bytes of each, of which all have as many. Completes on no loop. */
    static CompletableFuture<List<byte[]>> gather(Team team, byte[] own) {
        MemoryRegion all = team.engine().allocate((team.size() + 1L) * own.length, RegionOptions.local());
        MemorySegment.copy(MemorySegment.ofArray(own), 0, all.segment(), 0, own.length);
        CompletableFuture<List<byte[]>> gathered = new CompletableFuture<>();
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
                            gathered.complete(parts(team, all.segment(), own.length));
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

    private static List<byte[]> parts(Team team, MemorySegment all, int length) {
        List<byte[]> parts = new ArrayList<>();
        for (int rank = 0; rank < team.size(); rank++) {
            byte[] part = new byte[length];
            MemorySegment.copy(all, (rank + 1L) * length, MemorySegment.ofArray(part), 0, length);
            parts.add(part);
        }
        return parts;
    }
}
