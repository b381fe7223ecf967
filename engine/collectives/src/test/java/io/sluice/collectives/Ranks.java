package io.sluice.collectives;

import static io.sluice.testkit.Patience.await;

import io.sluice.engine.EngineOptions;
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
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** The ranks of a team, each an engine of this process. */
final class Ranks implements AutoCloseable {
    private final List<TransferEngine> engines = new ArrayList<>();
    private final List<Team> teams = new ArrayList<>();

    /** Calls a collective on one rank. */
    interface CallOnRank {
        void call(int rank, Team team, CollectiveCallback callback);
    }

    private Ranks() {}

    static Ranks form(String transport, int size) {
        return form(transport, size, options -> options, engine -> {});
    }

    static Ranks form(
            String transport,
            int size,
            UnaryOperator<TeamOptions> options,
            Consumer<EngineOptions.Builder> engineOptions) {
        Ranks ranks = new Ranks();
        try {
            for (int i = 0; i < size; i++) {
                ranks.engines.add(TransferEngine.open(PatientOptions.builder()
                        .transports(List.of(transport))
                        .with(engineOptions)
                        .build()));
            }
            List<CompletableFuture<Team>> forming = ranks.formTeams(options);
            try {
                Patience.awaitAll("forming the team, by rank,", forming);
            } finally {
                forming.stream()
                        .filter(team -> team.isDone() && !team.isCompletedExceptionally())
                        .forEach(team -> ranks.teams.add(team.join()));
            }
            return ranks;
        } catch (RuntimeException | Error e) {
            ranks.close();
            throw e;
        }
    }

    /** Teams that were formed elsewhere; their engines are not closed here, if only the teams are. */
    static Ranks of(List<TransferEngine> engines, List<Team> teams) {
        Ranks ranks = new Ranks();
        ranks.engines.addAll(engines);
        ranks.teams.addAll(teams);
        return ranks;
    }

    List<CompletableFuture<Team>> formTeams(UnaryOperator<TeamOptions> options) {
        List<CompletableFuture<Team>> forming = new ArrayList<>();
        for (int i = 0; i < engines.size(); i++) {
            forming.add(Team.form(
                    engines.get(i),
                    options.apply(TeamOptions.rank(i)
                            .of(engines.size())
                            .rendezvous(engines.getFirst().address())
                            .timeout(Patience.BOUND)
                            .formTimeout(Patience.BOUND))));
        }
        return forming;
    }

    int size() {
        return engines.size();
    }

    Team team(int rank) {
        return teams.get(rank);
    }

    TransferEngine engine(int rank) {
        return engines.get(rank);
    }

    MemoryRegion region(int rank, long bytes) {
        return engines.get(rank).allocate(Math.max(1, bytes), RegionOptions.local());
    }

    /** Calls a collective on all ranks and waits for it. */
    void call(CallOnRank collective) {
        await(start(collective));
    }

    /** Calls a collective on all ranks. */
    CompletableFuture<Void> start(CallOnRank collective) {
        return CompletableFuture.allOf(startEach(collective).toArray(CompletableFuture[]::new));
    }

    List<CompletableFuture<Void>> startEach(CallOnRank collective) {
        return each(rank -> on(rank, collective));
    }

    /** Calls a collective on one rank; if the call throws, because the team has failed, that is its error. */
    CompletableFuture<Void> on(int rank, CallOnRank collective) {
        CompletableFuture<Void> ended = new CompletableFuture<>();
        try {
            collective.call(rank, teams.get(rank), (called, error) -> {
                if (!(error == null ? ended.complete(null) : ended.completeExceptionally(error))) {
                    throw new AssertionError(called.kind() + " ended twice on rank " + rank);
                }
            });
        } catch (SluiceException e) {
            ended.completeExceptionally(e);
        }
        return ended;
    }

    <T> List<T> each(Function<Integer, T> what) {
        List<T> all = new ArrayList<>();
        for (int i = 0; i < engines.size(); i++) {
            all.add(what.apply(i));
        }
        return all;
    }

    void closeTeams() {
        teams.stream().map(Team::closeAsync).toList().forEach(Patience::await);
        teams.clear();
    }

    @Override
    public void close() {
        closeTeams();
        engines.stream().map(TransferEngine::closeAsync).toList().forEach(Patience::await);
    }
}
