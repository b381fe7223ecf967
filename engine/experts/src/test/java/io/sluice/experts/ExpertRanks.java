package io.sluice.experts;

import static io.sluice.testkit.Patience.await;

import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntFunction;

/** The ranks of a team with an expert buffer each; every rank is an engine of this process. */
public final class ExpertRanks implements AutoCloseable {
    private final List<TransferEngine> engines = new ArrayList<>();
    private final List<Team> teams = new ArrayList<>();
    private final List<ExpertBuffer> buffers = new ArrayList<>();

    private ExpertRanks() {}

    /** Forms a team without buffers. */
    public static ExpertRanks form(String transport, int size) {
        ExpertRanks ranks = new ExpertRanks();
        try {
            for (int i = 0; i < size; i++) {
                ranks.engines.add(TransferEngine.open(PatientOptions.builder()
                        .transports(List.of(transport))
                        .pollers(1)
                        .build()));
            }
            List<CompletableFuture<Team>> forming = new ArrayList<>();
            for (int i = 0; i < size; i++) {
                forming.add(Team.form(
                        ranks.engines.get(i),
                        TeamOptions.rank(i)
                                .of(size)
                                .rendezvous(ranks.engines.getFirst().address())
                                .scratchBytes(4 << 20)
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

    /** Forms a team, and creates its buffers. */
    static ExpertRanks form(String transport, int size, ExpertOptions options) {
        ExpertRanks ranks = form(transport, size);
        try {
            ranks.create(options).forEach(buffer -> ranks.buffers.add(await(buffer)));
            return ranks;
        } catch (RuntimeException | Error e) {
            ranks.close();
            throw e;
        }
    }

    List<CompletableFuture<ExpertBuffer>> create(ExpertOptions options) {
        return each(rank -> ExpertBuffer.create(teams.get(rank), options.timeout(Patience.BOUND)));
    }

    public int size() {
        return engines.size();
    }

    public TransferEngine engine(int rank) {
        return engines.get(rank);
    }

    public Team team(int rank) {
        return teams.get(rank);
    }

    ExpertBuffer buffer(int rank) {
        return buffers.get(rank);
    }

    public MemoryRegion region(int rank, long bytes) {
        return engines.get(rank).allocate(Math.max(8, bytes), RegionOptions.local());
    }

    public <T> List<T> each(IntFunction<T> what) {
        List<T> all = new ArrayList<>();
        for (int i = 0; i < engines.size(); i++) {
            all.add(what.apply(i));
        }
        return all;
    }

    /** Makes a call; if it throws, that is its error. */
    static <R> CompletableFuture<R> call(Consumer<ExpertCallback<R>> call) {
        CompletableFuture<R> ended = new CompletableFuture<>();
        try {
            call.accept((result, error) -> {
                if (!(error == null ? ended.complete(result) : ended.completeExceptionally(error))) {
                    throw new AssertionError("a call ended twice");
                }
            });
        } catch (SluiceException e) {
            ended.completeExceptionally(e);
        }
        return ended;
    }

    void closeBuffers() {
        buffers.stream().map(ExpertBuffer::closeAsync).toList().forEach(Patience::await);
        buffers.clear();
    }

    @Override
    public void close() {
        closeBuffers();
        teams.stream().map(Team::closeAsync).toList().forEach(Patience::await);
        engines.stream().map(TransferEngine::closeAsync).toList().forEach(Patience::await);
    }
}
