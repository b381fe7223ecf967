package io.sluice.collectives.cuda;

import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.cuda.GpuInfo;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;

/** A rank with a GPU in a process of its own, that starts collectives until it is killed. */
final class GpuRankMain {
    private GpuRankMain() {}

    /**
     * Runs it.
     *
     * @param arguments the rank, the number of ranks, and the rendezvous
     */
    public static void main(String[] arguments) {
        int rank = Integer.parseInt(arguments[0]);
        TransferEngine engine = KilledGpuRanks.engine();
        Team team = Patience.await(Team.form(
                engine,
                TeamOptions.rank(rank)
                        .of(Integer.parseInt(arguments[1]))
                        .rendezvous(EngineAddress.parse(arguments[2]))
                        .formTimeout(Patience.longBound())));
        String gpu = GpuInfo.all().get(rank % GpuInfo.all().size()).id();
        try (KilledGpuRanks.Rank working = new KilledGpuRanks.Rank(engine, team, gpu)) {
            working.startUntilOneFails().join();
        }
    }
}
