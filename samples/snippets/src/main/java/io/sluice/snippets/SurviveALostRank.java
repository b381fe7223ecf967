package io.sluice.snippets;

import io.sluice.collectives.RankFailedException;
import io.sluice.collectives.TeamOptions;
import io.sluice.reactor.ReactiveTeam;
import io.sluice.reactor.ReactiveTransferEngine;
import java.util.List;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Goes on without a rank that is lost: the collectives of the others end with an error that names it, and the survivors
 * form a team of those that are left.
 *
 * <p>Run: {@code ./sluice snippet SurviveALostRank}
 */
public final class SurviveALostRank {
    private static final int RANKS = 3;

    private SurviveALostRank() {}

    public static void main(String[] arguments) {
        List<ReactiveTransferEngine> engines = IntStream.range(0, RANKS)
                .mapToObj(rank -> ReactiveTransferEngine.open())
                .toList();
        List<ReactiveTeam> teams = Flux.range(0, RANKS)
                .flatMapSequential(rank -> ReactiveTeam.form(
                        engines.get(rank).engine(),
                        TeamOptions.rank(rank)
                                .of(RANKS)
                                .rendezvous(engines.getFirst().address())))
                .collectList()
                .blockOptional()
                .orElseThrow();

        engines.get(1).close().block();
        List<ReactiveTeam> survivors = Flux.just(teams.get(0), teams.get(2))
                .flatMapSequential(SurviveALostRank::barrierOrShrink)
                .collectList()
                .blockOptional()
                .orElseThrow();

        survivors.forEach(team -> System.out.println("rank " + team.team().rank() + " of "
                + team.team().size() + " in epoch " + team.team().epoch()));
        Flux.fromIterable(survivors).flatMap(ReactiveTeam::close).blockLast();
        Mono.when(engines.get(0).close(), engines.get(2).close()).block();
    }

    private static Mono<ReactiveTeam> barrierOrShrink(ReactiveTeam team) {
        return team.barrier().thenReturn(team).onErrorResume(RankFailedException.class, lost -> {
            System.out.println("rank " + team.team().rank() + " has lost ranks " + lost.ranks());
            return team.shrink().flatMap(smaller -> smaller.barrier().thenReturn(smaller));
        });
    }
}
