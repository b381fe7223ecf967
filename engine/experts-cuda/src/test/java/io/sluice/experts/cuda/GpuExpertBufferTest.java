package io.sluice.experts.cuda;

import static io.sluice.experts.cuda.GpuExpertRanks.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.SluiceException;
import io.sluice.experts.ExpertOptions;
import io.sluice.testkit.Patience;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Buffers are formed on all ranks or on none, and give all back. */
class GpuExpertBufferTest {
    private static final GpuExpertOptions OPTIONS = GpuExpertOptions.of(ExpertOptions.experts(12)
                    .hidden(128)
                    .maxTokensPerRank(4)
                    .topK(2)
                    .timeout(Patience.BOUND))
            .withBlocks(4);

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void is_formed_and_closed_again_and_again(int size) {
        try (GpuExpertRanks ranks = GpuExpertRanks.unformed(size)) {
            for (int round = 0; round < 2; round++) {
                for (CompletableFuture<GpuExpertBuffer> each : ranks.create(rank -> OPTIONS)) {
                    GpuExpertBuffer buffer = Patience.await(each);
                    assertThat(buffer.options()).isEqualTo(OPTIONS);
                    Patience.await(buffer.closeAsync());
                }
            }
        }
    }

    @Test
    void ranks_with_different_options_form_none_and_the_team_is_as_good_as_before() {
        try (GpuExpertRanks ranks = GpuExpertRanks.unformed(2)) {
            for (CompletableFuture<GpuExpertBuffer> each : ranks.create(rank -> OPTIONS.withBlocks(4 + rank))) {
                assertThat(failure(each))
                        .isInstanceOf(CollectiveMismatchException.class)
                        .hasMessageContaining("options");
            }
            List<CompletableFuture<GpuExpertBuffer>> again = ranks.create(rank -> OPTIONS);
            again.forEach(each -> Patience.await(Patience.await(each).closeAsync()));
        }
    }

    /** Also where one rank alone has failed, of memory that its GPU does not have, and where the host carries to it. */
    @ParameterizedTest
    @ValueSource(strings = {"aa", ".."})
    void what_is_not_formed_gives_all_back(String letters) {
        SoftGpuCounts.assumeSoftware();
        Islands islands = new Islands(letters);
        boolean isMapped = islands.equals(Islands.one(2));
        GpuExpertOptions small =
                GpuExpertOptions.of(OPTIONS.experts().normalMode(isMapped)).withBlocks(4);
        GpuExpertOptions large = GpuExpertOptions.of(ExpertOptions.experts(4096)
                .hidden(7168)
                .maxTokensPerRank(2048)
                .normalMode(isMapped)
                .timeout(Patience.BOUND));
        try (GpuExpertRanks ranks = GpuExpertRanks.unformed(islands)) {
            ranks.create(rank -> small)
                    .forEach(each -> Patience.await(Patience.await(each).closeAsync()));
            List<Long> before = SoftGpuCounts.all();
            for (int round = 0; round < 2; round++) {
                ranks.create(rank -> small.withBlocks(4 + rank))
                        .forEach(each -> assertThat(failure(each)).isInstanceOf(CollectiveMismatchException.class));
                ranks.create(rank -> rank == 0 ? small : large)
                        .forEach(each -> assertThat(failure(each)).isInstanceOf(SluiceException.class));
                // a rank without a window shares memory of the host
                CompletableFuture<GpuExpertBuffer> with = GpuExpertBuffer.create(ranks.team(0), ranks.device(0), small);
                CompletableFuture<GpuExpertBuffer> without = GpuExpertBuffer.create(ranks.team(1), "GPU-none", small);
                assertThat(failure(without)).hasMessageContaining("GPU-none");
                assertThat(failure(with))
                        .isInstanceOf(MemoryNotAccessibleException.class)
                        .hasMessageNotContaining("normalMode");
            }
            // fewer, if what an earlier test has failed to form was still being given back when they were counted
            Patience.until("no more objects than before", () -> SoftGpuCounts.areAtMost(before));
            ranks.create(rank -> small)
                    .forEach(each -> Patience.await(Patience.await(each).closeAsync()));
        }
    }

    @Test
    void bad_options_are_refused() {
        assertThatThrownBy(() -> OPTIONS.withBlocks(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> OPTIONS.withNormalBlocks(257)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> GpuExpertOptions.experts(GpuExpertOptions.MOST_EXPERTS + 1))
                .isInstanceOf(IllegalArgumentException.class);
        try (GpuExpertRanks ranks = GpuExpertRanks.unformed(1)) {
            assertThat(failure(GpuExpertBuffer.create(ranks.team(0), "GPU-none", OPTIONS)))
                    .isInstanceOf(SluiceException.class)
                    .hasMessageContaining("GPU-none");
        }
    }
}
