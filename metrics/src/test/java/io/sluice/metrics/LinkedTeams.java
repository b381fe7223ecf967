package io.sluice.metrics;

import io.sluice.collectives.CollectiveOptions;
import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** A team of two engines of this process, called rank0 and rank1. */
final class LinkedTeams implements AutoCloseable {
    private final List<TransferEngine> engines = new ArrayList<>();
    private final List<Team> teams = new ArrayList<>();

    private LinkedTeams() {}

    static LinkedTeams form() {
        return form("shm", "tcp");
    }

    static LinkedTeams form(String... transports) {
        LinkedTeams linked = new LinkedTeams();
        List<CompletableFuture<Team>> forming = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
            TransferEngine engine = TransferEngine.open(PatientOptions.builder()
                    .name("rank" + rank)
                    .transports(List.of(transports))
                    .livenessTimeout(Patience.BOUND)
                    .build());
            linked.engines.add(engine);
            forming.add(Team.form(
                    engine,
                    TeamOptions.rank(rank)
                            .of(2)
                            .name("linked")
                            .rendezvous(linked.engines.getFirst().address())
                            .timeout(Patience.BOUND)
                            .formTimeout(Patience.BOUND)));
        }
        forming.forEach(team -> linked.teams.add(Patience.await(team)));
        return linked;
    }

    TransferEngine engine(int rank) {
        return engines.get(rank);
    }

    Team team(int rank) {
        return teams.get(rank);
    }

    /** Calls barriers on both ranks, one after another, and waits until all have ended. */
    void barriers(int count) {
        for (int i = 0; i < count; i++) {
            List<CompletableFuture<Void>> ended = new ArrayList<>();
            for (Team team : teams) {
                CompletableFuture<Void> end = new CompletableFuture<>();
                team.barrier(CollectiveOptions.defaults(), (barrier, error) -> {
                    if (error == null) {
                        end.complete(null);
                    } else {
                        end.completeExceptionally(error);
                    }
                });
                ended.add(end);
            }
            ended.forEach(Patience::await);
        }
    }

    @Override
    public void close() {
        teams.stream().map(Team::closeAsync).toList().forEach(Patience::await);
        engines.stream().map(TransferEngine::closeAsync).toList().forEach(Patience::await);
    }
}
