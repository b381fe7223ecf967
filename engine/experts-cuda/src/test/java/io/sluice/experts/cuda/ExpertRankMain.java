package io.sluice.experts.cuda;

import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.cuda.GpuInfo;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import java.util.List;

/** A rank with a GPU in a process of its own, that dispatches and combines until it is killed. */
final class ExpertRankMain {
    /** What its line with the engine's address begins with. */
    static final String ADDRESS = "ADDRESS ";

    private ExpertRankMain() {}

    /**
     * Runs it.
     *
     * @param arguments the rank of two, the mode, and the rendezvous, if that is not its own
     */
    @SuppressWarnings("SystemOut")
    public static void main(String[] arguments) {
        int rank = Integer.parseInt(arguments[0]);
        ExpertRounds.Mode mode = ExpertRounds.Mode.valueOf(arguments[1]);
        TransferEngine engine = KilledGpuExperts.engine();
        System.out.println(ADDRESS + engine.address());
        EngineAddress first = arguments.length > 2 ? EngineAddress.parse(arguments[2]) : engine.address();
        Team team = Patience.await(
                Team.form(
                        engine,
                        TeamOptions.rank(rank)
                                .of(KilledGpuExperts.RANKS)
                                .rendezvous(first)
                                .formTimeout(Patience.longBound())),
                Patience.longBound());
        List<GpuInfo> gpus = GpuInfo.all();
        try (ExpertRounds rounds =
                new ExpertRounds(engine, team, gpus.get(rank % gpus.size()).id(), mode)) {
            rounds.startUntilOneFails().join();
        }
    }
}
