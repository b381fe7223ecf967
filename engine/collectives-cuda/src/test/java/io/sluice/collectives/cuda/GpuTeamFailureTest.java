package io.sluice.collectives.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.RankFailedException;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.TeamRevokedException;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that do not come, call something else, or have other options, end collectives on all with a typed error. */
class GpuTeamFailureTest {
    private static final int BYTES = 4096;
    private static final GpuTeamOptions OPTIONS =
            GpuTeamOptions.defaults().withTimeout(Patience.BOUND).withBlocks(4);

    private static Throwable failure(CompletableFuture<?> ended) {
        Throwable error = ended.handle((value, thrown) -> thrown)
                .orTimeout(Patience.BOUND.toMillis(), java.util.concurrent.TimeUnit.MILLISECONDS)
                .join();
        return error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
    }

    private static GpuCollective sum(GpuRanks ranks, int rank, TeamRegion region, int count) {
        return ranks.gpu(rank).allReduce(region, 0, region, 0, count, ElementType.INT32, ReduceOperation.SUM);
    }

    @ParameterizedTest
    @ValueSource(longs = {8, 1 << 20})
    void ranks_that_start_different_collectives_all_get_an_error(long exchangeBytes) {
        try (GpuRanks ranks = GpuRanks.form(3, OPTIONS.withExchangeBytes(exchangeBytes))) {
            List<TeamRegion> regions = ranks.share(BYTES);
            List<CompletableFuture<Void>> ends = ranks.start(List.of(
                    sum(ranks, 0, regions.get(0), 100),
                    sum(ranks, 1, regions.get(1), 100),
                    sum(ranks, 2, regions.get(2), 101)));
            boolean isNamed = false;
            for (CompletableFuture<Void> each : ends) {
                Throwable error = failure(each);
                assertThat(error).isInstanceOfAny(CollectiveMismatchException.class, TeamRevokedException.class);
                isNamed |= error instanceof CollectiveMismatchException;
            }
            assertThat(isNamed).isTrue();
            for (int rank = 0; rank < 3; rank++) {
                GpuCollective later = sum(ranks, rank, regions.get(rank), 100);
                assertThatThrownBy(later::start).isInstanceOf(SluiceException.class);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {8, 1 << 20})
    void a_rank_that_does_not_come_is_named_when_the_time_is_over(long exchangeBytes) {
        try (GpuRanks ranks =
                GpuRanks.form(2, OPTIONS.withExchangeBytes(exchangeBytes).withTimeout(Duration.ofMillis(300)))) {
            List<TeamRegion> regions = ranks.share(BYTES);
            CompletableFuture<Void> end = ranks.start(0, sum(ranks, 0, regions.get(0), 100));
            assertThat(failure(end))
                    .isInstanceOf(CollectiveTimeoutException.class)
                    .hasMessageContaining("rank 1");
            Patience.until("the other rank knows", () -> {
                try {
                    ranks.gpu(1).ensureUsable();
                    return false;
                } catch (TeamRevokedException expected) {
                    return true;
                }
            });
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {8, 1 << 20})
    void a_rank_that_leaves_ends_those_that_wait_for_it(long exchangeBytes) {
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS.withExchangeBytes(exchangeBytes))) {
            List<TeamRegion> regions = ranks.share(BYTES);
            CompletableFuture<Void> end = ranks.start(0, sum(ranks, 0, regions.get(0), 100));
            Patience.await(ranks.engine(1).closeAsync());
            assertThat(failure(end))
                    .isInstanceOfSatisfying(
                            RankFailedException.class,
                            error -> assertThat(error.ranks()).containsExactly(1));
        }
    }

    @Test
    void a_barrier_is_no_all_reduce_and_a_large_one_no_small_one() {
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS.withExchangeBytes(1024))) {
            List<TeamRegion> regions = ranks.share(BYTES);
            List<CompletableFuture<Void>> ends =
                    ranks.start(List.of(ranks.gpu(0).barrier(), sum(ranks, 1, regions.get(1), 100)));
            ends.forEach(each -> assertThat(failure(each))
                    .isInstanceOfAny(CollectiveMismatchException.class, TeamRevokedException.class));
        }
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS.withExchangeBytes(1024))) {
            List<TeamRegion> regions = ranks.share(BYTES);
            List<CompletableFuture<Void>> ends =
                    ranks.start(List.of(sum(ranks, 0, regions.get(0), 100), sum(ranks, 1, regions.get(1), 1000)));
            ends.forEach(each -> assertThat(failure(each))
                    .isInstanceOfAny(CollectiveMismatchException.class, TeamRevokedException.class));
        }
    }

    @Test
    void ranks_with_different_regions_get_an_error() {
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS)) {
            List<TeamRegion> first = ranks.share(BYTES);
            List<TeamRegion> second = ranks.share(BYTES);
            List<CompletableFuture<Void>> ends =
                    ranks.start(List.of(sum(ranks, 0, first.get(0), 100), sum(ranks, 1, second.get(1), 100)));
            ends.forEach(each -> assertThat(failure(each))
                    .isInstanceOfAny(CollectiveMismatchException.class, TeamRevokedException.class));
        }
    }

    @Test
    void a_region_of_another_team_is_refused() {
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS);
                GpuRanks others = GpuRanks.form(2, OPTIONS)) {
            TeamRegion foreign = others.share(BYTES).getFirst();
            assertThatThrownBy(() -> sum(ranks, 0, foreign, 100))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("shared by");
        }
    }

    /** What it was to write stays as it was: its first wait ends it. */
    @Test
    void a_rank_that_gives_up_writes_nothing_to_the_others() {
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS.withExchangeBytes(8).withTimeout(Duration.ofMillis(300)))) {
            List<TeamRegion> regions = ranks.share(BYTES);
            GpuRanks.GpuBytes target = ranks.bytes(1, regions.get(1).local());
            byte[] before = new byte[BYTES];
            Arrays.fill(before, (byte) 7);
            target.put(before);
            assertThat(failure(ranks.start(0, sum(ranks, 0, regions.get(0), 1000))))
                    .isInstanceOf(CollectiveTimeoutException.class);
            assertThat(target.get(BYTES)).isEqualTo(before);
        }
    }

    @Test
    void a_revoked_team_ends_its_kernels() {
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS)) {
            List<TeamRegion> regions = ranks.share(BYTES);
            CompletableFuture<Void> end = ranks.start(0, sum(ranks, 0, regions.get(0), 100));
            Patience.await(ranks.team(1).revoke());
            assertThat(failure(end)).isInstanceOf(TeamRevokedException.class);
        }
    }

    @Test
    void ranks_with_different_options_form_no_gpu_team() {
        try (GpuRanks ranks = GpuRanks.unformed(2)) {
            for (CompletableFuture<GpuTeam> each : ranks.formGpuTeams(rank -> OPTIONS.withBlocks(4 + rank))) {
                assertThat(failure(each))
                        .isInstanceOf(CollectiveMismatchException.class)
                        .hasMessageContaining("options");
            }
            // and the team is as good as before
            List<CompletableFuture<GpuTeam>> again = ranks.formGpuTeams(rank -> OPTIONS);
            again.forEach(each -> Patience.await(Patience.await(each).closeAsync()));
        }
    }

    @Test
    void bad_arguments_are_refused_before_anything_starts() {
        assertThatThrownBy(() -> OPTIONS.withBlocks(0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> OPTIONS.withExchangeBytes(4)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> OPTIONS.withTimeout(Duration.ZERO)).isInstanceOf(IllegalArgumentException.class);
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS)) {
            TeamRegion region = ranks.share(BYTES).getFirst();
            GpuTeam gpu = ranks.gpu(0);
            assertThatThrownBy(() -> sum(ranks, 0, region, -1)).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> sum(ranks, 0, region, BYTES / 4 + 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> gpu.allReduce(region, 0, region, 4, 2, ElementType.INT32, ReduceOperation.SUM))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("overlap");
            assertThatThrownBy(() -> gpu.allReduce(region, 2, region, 2, 2, ElementType.INT32, ReduceOperation.SUM))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("multiples of 4");
            assertThatThrownBy(() -> gpu.allToAll(region, 0, region, 64, 33))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> gpu.broadcast(region, 0, region, 0, 8, 2))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> gpu.share(ranks.engine(0).allocate(64, RegionOptions.readWrite())))
                    .isInstanceOf(MemoryNotAccessibleException.class);
            assertThatThrownBy(() -> sum(ranks, 0, region, Integer.MAX_VALUE))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> gpu.allToAll(region, 0, region, 0, Long.MAX_VALUE / 2 + 1))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void nothing_starts_on_what_is_closed() {
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS)) {
            List<TeamRegion> regions = ranks.share(BYTES);
            GpuCollective collective = sum(ranks, 0, regions.get(0), 100);
            Patience.await(regions.get(0).closeAsync());
            assertThatThrownBy(collective::start).isInstanceOf(SluiceException.class);
            Patience.await(ranks.gpu(0).closeAsync());
            GpuCollective barrier = ranks.gpu(1).barrier();
            assertThatThrownBy(() -> ranks.gpu(0).barrier()).isInstanceOf(SluiceException.class);
            assertThat(barrier.exchanges()).isTrue();
        }
    }
}
