package io.sluice.collectives.cuda;

import io.sluice.collectives.Team;
import io.sluice.cuda.GpuStream;
import io.sluice.cuda.PinnedBuffer;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferPriority;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Forms GPU teams: takes what a rank needs, on all ranks or on none. */
final class GpuTeamFormation {
    private final Team team;
    private final String gpu;
    private final GpuTeamOptions options;
    private final TeamLayout layout;
    private final List<Runnable> taken = new ArrayList<>();

    private GpuTeamFormation(Team team, String gpu, GpuTeamOptions options) {
        this.team = team;
        this.gpu = gpu;
        this.options = options;
        this.layout = new TeamLayout(team.size(), options);
    }

    static CompletableFuture<GpuTeam> form(Team team, String gpu, @Nullable GpuStream stream, GpuTeamOptions options) {
        if (team.size() > TeamLayout.MOST_RANKS) {
            throw new IllegalArgumentException("a GPU team has at most %d ranks, not the %d of %s"
                    .formatted(TeamLayout.MOST_RANKS, team.size(), team));
        }
        return new GpuTeamFormation(team, gpu, options).form(stream);
    }

    /** The region must be memory of the rank's GPU. */
    static void check(MemoryRegion region, String gpu) {
        if (region.kind() != MemoryKind.CUDA || !gpu.equals(region.memory().device())) {
            throw new MemoryNotAccessibleException("collectives of " + gpu + " use its memory, not " + region);
        }
    }

    private CompletableFuture<GpuTeam> form(@Nullable GpuStream given) {
        CompletableFuture<MemoryRegion> scratch = tried(() -> {
            MemoryRegion made = team.engine()
                    .allocate(layout.scratchBytes(), RegionOptions.readWrite().on(MemoryKind.CUDA, gpu));
            taken.add(made::close);
            return made;
        });
        CompletableFuture<TeamWords> words = tried(() -> {
            PinnedBuffer made = PinnedBuffer.allocate(gpu, TeamLayout.WORDS_BYTES);
            taken.add(made::close);
            return new TeamWords(team, made);
        });
        CompletableFuture<GpuStream> stream = tried(() -> {
            if (given != null) {
                return given;
            }
            GpuStream made = GpuStream.create(gpu, TransferPriority.HIGH);
            taken.add(made::close);
            return made;
        });
        CompletableFuture<TeamKernels> kernels = new CompletableFuture<>();
        Thread.ofPlatform()
                .daemon()
                .name("sluice-gpu-team-" + team.rank())
                .start(() -> tried(() -> TeamKernels.load(gpu)).whenComplete((made, error) -> {
                    if (error == null) {
                        kernels.complete(made);
                    } else {
                        kernels.completeExceptionally(error);
                    }
                }));
        return RegionMapping.map(
                        team,
                        gpu,
                        scratch,
                        CompletableFuture.allOf(words, stream, kernels),
                        RegionMapping.NONE,
                        0,
                        options.exchangeBytes(),
                        options.pushBytes(),
                        options.blocks(),
                        options.timeout().toNanos())
                .thenApply(scratches ->
                        formed(scratch.join(), scratches, words.join(), stream.join(), given == null, kernels.join()))
                .whenComplete((made, error) -> {
                    if (error != null) {
                        kernels.thenAccept(TeamKernels::close);
                        taken.forEach(Runnable::run);
                    }
                });
    }

    private static <T> CompletableFuture<T> tried(Supplier<T> what) {
        try {
            return CompletableFuture.completedFuture(what.get());
        } catch (RuntimeException | Error e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private GpuTeam formed(
            MemoryRegion scratch,
            TeamRegion scratches,
            TeamWords words,
            GpuStream stream,
            boolean ownsStream,
            TeamKernels kernels) {
        words.watch();
        Launches launches = new Launches(team, options, layout, stream, kernels, words, scratches);
        return new GpuTeam(team, stream, ownsStream, kernels, words, scratch, scratches, launches);
    }
}
