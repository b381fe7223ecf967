package io.sluice.collectives.cuda;

import static io.sluice.testkit.Patience.await;

import io.sluice.collectives.Team;
import io.sluice.collectives.TeamOptions;
import io.sluice.cuda.GpuInfo;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineObserver;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SignalWait;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransferOptions;
import io.sluice.testkit.Patience;
import io.sluice.testkit.PatientOptions;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;

/** The ranks of a GPU team, each an engine of this process; they share the GPUs there are. */
final class GpuRanks implements AutoCloseable {
    private final List<TransferEngine> engines = new ArrayList<>();
    private final List<Team> teams = new ArrayList<>();
    private final List<GpuTeam> gpus = new ArrayList<>();
    private final List<String> devices = GpuInfo.all().stream().map(GpuInfo::id).toList();

    private GpuRanks() {}

    static GpuRanks form(int size, GpuTeamOptions options) {
        return form(size, rank -> options);
    }

    static GpuRanks form(int size, IntFunction<GpuTeamOptions> options) {
        GpuRanks ranks = new GpuRanks();
        try {
            ranks.openTeams(size, new EngineObserver() {});
            ranks.formGpuTeams(options).forEach(each -> ranks.gpus.add(await(each)));
            return ranks;
        } catch (RuntimeException | Error e) {
            ranks.close();
            throw e;
        }
    }

    /** Of two ranks, the first of which is observed. */
    static GpuRanks observed(EngineObserver observer, GpuTeamOptions options) {
        GpuRanks ranks = new GpuRanks();
        ranks.openTeams(2, observer);
        ranks.formGpuTeams(rank -> options).forEach(each -> ranks.gpus.add(await(each)));
        return ranks;
    }

    /** Options by which all-reduces of whole vectors, up to 1 MiB, go in one way. */
    static GpuTeamOptions by(GpuAlgorithm algorithm, GpuTeamOptions others) {
        return others.withExchangeBytes(algorithm == GpuAlgorithm.MESSAGES ? 1 << 20 : 8)
                .withPushBytes(algorithm == GpuAlgorithm.PUSHES ? 1 << 20 : 0);
    }

    /** Teams whose GPUs have not formed theirs. */
    static GpuRanks unformed(int size) {
        GpuRanks ranks = new GpuRanks();
        ranks.openTeams(size, new EngineObserver() {});
        return ranks;
    }

    private void openTeams(int size, EngineObserver ofTheFirst) {
        for (int i = 0; i < size; i++) {
            EngineOptions.Builder options = PatientOptions.builder().transports(List.of("shm", "tcp", "cuda"));
            engines.add(
                    TransferEngine.open(i == 0 ? options.observer(ofTheFirst).build() : options.build()));
        }
        List<CompletableFuture<Team>> forming = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            forming.add(Team.form(
                    engines.get(i),
                    TeamOptions.rank(i)
                            .of(size)
                            .rendezvous(engines.getFirst().address())
                            .timeout(Patience.BOUND)
                            .formTimeout(Patience.BOUND)));
        }
        teams.addAll(Patience.awaitAll("forming the team, by rank,", forming));
    }

    List<CompletableFuture<GpuTeam>> formGpuTeams(IntFunction<GpuTeamOptions> options) {
        List<CompletableFuture<GpuTeam>> forming = new ArrayList<>();
        for (int i = 0; i < teams.size(); i++) {
            forming.add(GpuTeam.form(teams.get(i), device(i), options.apply(i)));
        }
        return forming;
    }

    int size() {
        return teams.size();
    }

    String device(int rank) {
        return devices.get(rank % devices.size());
    }

    TransferEngine engine(int rank) {
        return engines.get(rank);
    }

    Team team(int rank) {
        return teams.get(rank);
    }

    GpuTeam gpu(int rank) {
        return gpus.get(rank);
    }

    MemoryRegion region(int rank, long bytes) {
        return engines.get(rank).allocate(bytes, RegionOptions.readWrite().on(MemoryKind.CUDA, device(rank)));
    }

    /** A region of each rank, shared. */
    List<TeamRegion> share(long bytes) {
        List<CompletableFuture<TeamRegion>> sharing = new ArrayList<>();
        for (int i = 0; i < size(); i++) {
            sharing.add(gpu(i).share(region(i, bytes)));
        }
        return sharing.stream().map(Patience::await).toList();
    }

    /** Bytes of a GPU, copied over the engine's own transport. */
    GpuBytes bytes(int rank, MemoryRegion region) {
        return new GpuBytes(engines.get(rank), region);
    }

    /** Starts collectives of all ranks; each ends with null, or an error. */
    List<CompletableFuture<Void>> start(List<GpuCollective> collectives) {
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int i = 0; i < collectives.size(); i++) {
            ends.add(start(i, collectives.get(i)));
        }
        return ends;
    }

    CompletableFuture<Void> start(int rank, GpuCollective collective) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        try {
            long number = collective.start();
            SignalWait wait = gpu(rank).onReached((armed, value, error) -> {
                if (error == null) {
                    end.complete(null);
                } else {
                    end.completeExceptionally(error);
                }
                armed.close();
            });
            wait.arm(number);
        } catch (SluiceException e) {
            end.completeExceptionally(e);
        }
        return end;
    }

    @Override
    public void close() {
        gpus.forEach(each -> await(each.closeAsync()));
        List<CompletableFuture<Void>> closing = new ArrayList<>();
        teams.forEach(team -> closing.add(team.closeAsync()));
        closing.forEach(Patience::await);
        engines.forEach(engine -> await(engine.closeAsync()));
    }

    /** A region's bytes, by transfers of its own engine to itself. */
    static final class GpuBytes {
        private final MemoryRegion host;
        private final RemoteRegion remote;

        GpuBytes(TransferEngine engine, MemoryRegion region) {
            Connection connection = await(engine.connect(engine.address()));
            host = engine.allocate(region.length(), RegionOptions.local());
            remote = await(connection.attach(region.descriptor()));
        }

        void put(byte[] bytes) {
            MemorySegment.copy(bytes, 0, host.segment(), ValueLayout.JAVA_BYTE, 0, bytes.length);
            await(ended(end -> remote.connection()
                    .write(
                            host,
                            0,
                            remote,
                            0,
                            bytes.length,
                            TransferOptions.defaults(),
                            (transfer, error) -> end(end, error))));
        }

        byte[] get(int bytes) {
            await(ended(end -> remote.connection()
                    .read(
                            host,
                            0,
                            remote,
                            0,
                            bytes,
                            TransferOptions.defaults(),
                            (transfer, error) -> end(end, error))));
            return host.segment().asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
        }

        private static CompletableFuture<Void> ended(java.util.function.Consumer<CompletableFuture<Void>> start) {
            CompletableFuture<Void> end = new CompletableFuture<>();
            start.accept(end);
            return end;
        }

        private static void end(CompletableFuture<Void> end, @org.jspecify.annotations.Nullable SluiceException error) {
            if (error == null) {
                end.complete(null);
            } else {
                end.completeExceptionally(error);
            }
        }
    }
}
