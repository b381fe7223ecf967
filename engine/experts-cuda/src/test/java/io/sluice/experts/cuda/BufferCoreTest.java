package io.sluice.experts.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.collectives.Team;
import io.sluice.collectives.TeamRevokedException;
import io.sluice.collectives.cuda.TeamRegion;
import io.sluice.cuda.CudaException;
import io.sluice.cuda.GpuStream;
import io.sluice.cuda.GpuWork;
import io.sluice.cuda.KernelArguments;
import io.sluice.cuda.LaunchShape;
import io.sluice.cuda.PinnedBuffer;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.TransferPriority;
import io.sluice.experts.ExpertOptions;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** What a rank cannot start ends the buffers of all. */
class BufferCoreTest {
    private static final GpuExpertOptions OPTIONS = GpuExpertOptions.of(
            ExpertOptions.experts(2).hidden(128).maxTokensPerRank(1).topK(1).timeout(Patience.BOUND));
    private static final String KERNEL = "sluice_experts_leave";
    // more threads than a block may have, which the driver sees
    private static final LaunchShape TOO_LARGE = new LaunchShape(1, 1, 1, 1024, 1, 2, 0);

    @Test
    void a_launch_that_the_driver_refuses_ends_the_buffers_of_all_ranks() {
        BufferLayout layout = new BufferLayout(0, 0);
        try (GpuExpertRanks ranks = GpuExpertRanks.unformed(2)) {
            List<CompletableFuture<TeamRegion>> mapping = new ArrayList<>();
            List<MemoryRegion> windows = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                windows.add(ranks.region(rank, layout.windowBytes));
                mapping.add(TeamRegion.map(
                        ranks.team(rank),
                        ranks.device(rank),
                        CompletableFuture.completedFuture(windows.get(rank)),
                        CompletableFuture.completedFuture(null),
                        1,
                        2,
                        3));
            }
            List<KernelModule> kernels = new ArrayList<>();
            List<BufferCore> cores = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                Team team = ranks.team(rank);
                String gpu = ranks.device(rank);
                ExpertWords words = new ExpertWords(team, 1, PinnedBuffer.allocate(gpu, BufferLayout.WORDS_BYTES));
                words.watch();
                kernels.add(KernelModule.load(gpu, "buffer"));
                cores.add(new BufferCore(
                        team,
                        OPTIONS,
                        GpuStream.create(gpu, TransferPriority.HIGH),
                        words,
                        Patience.await(mapping.get(rank)),
                        layout,
                        kernels.get(rank).kernel(KERNEL),
                        null));
            }
            BufferCore first = cores.getFirst();
            KernelArguments arguments = KernelArguments.of(BufferLayout.BUFFER, ValueLayout.JAVA_INT);
            first.putBuffer(arguments, 0);
            GpuWork work = first.work()
                    .launch(kernels.getFirst().kernel(KERNEL), TOO_LARGE, arguments)
                    .build();
            assertThatThrownBy(() -> first.submit(work, true)).isInstanceOf(CudaException.class);
            assertThatThrownBy(() -> first.submit(work, true))
                    .isInstanceOf(CudaException.class)
                    .isSameAs(first.words().failure());
            Patience.until(
                    "the other rank knows", () -> cores.get(1).words().failure() instanceof TeamRevokedException);
            assertThat(cores.get(1).words().ended()).isDone();
            kernels.forEach(each -> Patience.await(each.close()));
            for (BufferCore core : cores) {
                core.stream().close();
                core.words().buffer().close();
                Patience.await(core.windows().closeAsync());
            }
            windows.forEach(window -> Patience.await(window.close()));
        }
    }
}
