package io.sluice.experts.cuda;

import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.cuda.GpuInfo;
import io.sluice.engine.EngineAddress;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;

/** A rank, with a GPU, of a program that prints figures, one process a rank. */
record FigureRank(TransferEngine engine, Team team, String gpu) implements AutoCloseable {
    private static final long LOOK_MILLIS = 20;

    /**
     * Forms the team. The engine has the settings of the environment, such as {@code SLUICE_CUDA_MAPPED}.
     *
     * @param arguments the rank, the number of ranks, and a file for the address of rank 0
     */
    static FigureRank of(String[] arguments) throws IOException, InterruptedException {
        int rank = Integer.parseInt(arguments[0]);
        int size = Integer.parseInt(arguments[1]);
        Path file = Path.of(arguments[2]);
        List<GpuInfo> gpus = GpuInfo.all();
        TransferEngine engine = TransferEngine.open(EngineOptions.builder()
                .transports(List.of("shm", "tcp", "cuda"))
                .environment(System.getenv())
                .build());
        if (rank == 0) {
            Path next = file.resolveSibling(file.getFileName() + ".next");
            Files.writeString(next, engine.address().toString());
            Files.move(next, file, StandardCopyOption.ATOMIC_MOVE);
        }
        while (!Files.exists(file)) {
            Thread.sleep(LOOK_MILLIS);
        }
        EngineAddress first = EngineAddress.parse(Files.readString(file));
        Team team = Team.form(engine, TeamOptions.rank(rank).of(size).rendezvous(first))
                .join();
        return new FigureRank(engine, team, gpus.get(rank % gpus.size()).id());
    }

    /** Prints a line, on rank 0. */
    @SuppressWarnings("SystemOut")
    void say(String format, Object... values) {
        if (team.rank() == 0) {
            System.out.printf(format + "%n", values);
        }
    }

    @Override
    public void close() {
        team.closeAsync().join();
        engine.closeAsync().join();
    }
}
