package io.sluice.experts;

import static io.sluice.testkit.Patience.await;

import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;

/** The ranks of a team in this process, one buffer each after another, and the regions of their calls. */
final class CrossRanks implements AutoCloseable {
    private static final long SCRATCH = 4 << 20;

    private final List<TransferEngine> engines = new ArrayList<>();
    private final List<Team> teams = new ArrayList<>();
    private final List<ExpertBuffer> buffers = new ArrayList<>();
    private final List<MemoryRegion> regions = new ArrayList<>();

    /** Makes a call on one rank. */
    interface CallOnRank<R> {
        void call(int rank, ExpertBuffer buffer, ExpertCallback<R> callback);
    }

    private CrossRanks() {}

    /** Forms a team; there are no buffers yet. */
    static CrossRanks form(String transport, int size) {
        CrossRanks ranks = new CrossRanks();
        try {
            for (int rank = 0; rank < size; rank++) {
                ranks.engines.add(TransferEngine.open(PatientOptions.builder()
                        .transports(List.of(transport))
                        .pollers(1)
                        .livenessTimeout(Patience.longBound())
                        .build()));
            }
            List<CompletableFuture<Team>> forming = new ArrayList<>();
            for (int rank = 0; rank < size; rank++) {
                forming.add(Team.form(
                        ranks.engines.get(rank),
                        TeamOptions.rank(rank)
                                .of(size)
                                .rendezvous(ranks.engines.getFirst().address())
                                .scratchBytes(SCRATCH)
                                .timeout(Patience.BOUND)
                                .formTimeout(Patience.BOUND)));
            }
            ranks.teams.addAll(Patience.awaitAll("forming the team, by rank,", forming));
            return ranks;
        } catch (RuntimeException | Error e) {
            ranks.close();
            throw e;
        }
    }

    /** Closes buffers and regions that there are, and creates buffers. */
    void createBuffers(ExpertOptions options) {
        createBuffers(rank -> options);
    }

    void createBuffers(IntFunction<ExpertOptions> options) {
        closeBuffers();
        List<CompletableFuture<ExpertBuffer>> creating = new ArrayList<>();
        for (Team team : teams) {
            creating.add(ExpertBuffer.create(team, options.apply(team.rank()).timeout(Patience.BOUND)));
        }
        creating.forEach(buffer -> buffers.add(await(buffer)));
    }

    int size() {
        return engines.size();
    }

    Team team(int rank) {
        return teams.get(rank);
    }

    ExpertBuffer buffer(int rank) {
        return buffers.get(rank);
    }

    /** Local memory of a rank, until the buffers are closed. */
    MemoryRegion region(int rank, long bytes) {
        MemoryRegion region = engines.get(rank).allocate(Math.max(1, bytes), RegionOptions.local());
        regions.add(region);
        return region;
    }

    /** Makes a call on all ranks, waits for it, and returns the results by rank. */
    <R> List<R> call(String what, CallOnRank<R> call) {
        List<CompletableFuture<R>> ended = new ArrayList<>();
        for (int rank = 0; rank < engines.size(); rank++) {
            ended.add(on(rank, call));
        }
        List<R> results = new ArrayList<>();
        for (int rank = 0; rank < ended.size(); rank++) {
            try {
                results.add(await(ended.get(rank)));
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError(what + " on rank " + rank + ": " + e, e);
            }
        }
        return results;
    }

    /** Makes a call on one rank. */
    <R> CompletableFuture<R> on(int rank, CallOnRank<R> call) {
        CompletableFuture<R> ended = new CompletableFuture<>();
        call.call(rank, buffers.get(rank), (result, error) -> {
            if (!(error == null ? ended.complete(result) : ended.completeExceptionally(error))) {
                throw new AssertionError("a call ended twice on rank " + rank);
            }
        });
        return ended;
    }

    void closeBuffers() {
        buffers.stream().map(ExpertBuffer::closeAsync).toList().forEach(Patience::await);
        buffers.clear();
        regions.stream().map(MemoryRegion::close).toList().forEach(Patience::await);
        regions.clear();
    }

    @Override
    public void close() {
        closeBuffers();
        teams.stream().map(Team::closeAsync).toList().forEach(Patience::await);
        engines.stream().map(TransferEngine::closeAsync).toList().forEach(Patience::await);
    }
}
