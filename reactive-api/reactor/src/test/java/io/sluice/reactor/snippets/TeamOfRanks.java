package io.sluice.reactor.snippets;

import io.sluice.collectives.Collective;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.RankFailedException;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.TeamOptions;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.TransferEngine;
import io.sluice.reactor.ReactiveTeam;
import reactor.core.publisher.Mono;

/** Collectives, for their page. */
final class TeamOfRanks {
    private TeamOfRanks() {}

    static Mono<Collective> average(TransferEngine engine, int rank, MemoryRegion gradients, long count) {
        // begin
        Mono<Collective> averaged = Mono.usingWhen(
                ReactiveTeam.form(engine, TeamOptions.rank(rank).of(4).rendezvous(EngineAddress.of("10.0.0.1", 7000))),
                team -> team.allReduce(gradients, 0, gradients, 0, count, ElementType.FLOAT32, ReduceOperation.AVERAGE),
                ReactiveTeam::close);
        // end
        return averaged;
    }

    static Mono<ReactiveTeam> survive(ReactiveTeam team) {
        // begin
        Mono<ReactiveTeam> survivors =
                team.barrier().thenReturn(team).onErrorResume(RankFailedException.class, lost -> team.shrink());
        // end
        return survivors;
    }
}
