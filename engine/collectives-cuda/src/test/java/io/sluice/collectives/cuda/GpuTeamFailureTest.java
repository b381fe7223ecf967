package io.sluice.collectives.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.RankFailedException;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.TeamRevokedException;
import io.sluice.engine.Connection;
import io.sluice.engine.ConnectionState;
import io.sluice.engine.EngineObserver;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Ranks that do not come, call something else, or have other options, end collectives on all with a typed error. */
class GpuTeamFailureTest {
    private static final int BYTES = 4096;
    private static final GpuTeamOptions OPTIONS =
            GpuTeamOptions.defaults().withTimeout(Patience.BOUND).withBlocks(4).withPushBytes(0);

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
    @EnumSource
    void ranks_that_start_different_collectives_all_get_an_error(GpuAlgorithm algorithm) {
        try (GpuRanks ranks = GpuRanks.form(3, GpuRanks.by(algorithm, OPTIONS))) {
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
    @EnumSource
    void a_rank_that_does_not_come_is_named_when_the_time_is_over(GpuAlgorithm algorithm) {
        try (GpuRanks ranks = GpuRanks.form(2, GpuRanks.by(algorithm, OPTIONS).withTimeout(Duration.ofMillis(300)))) {
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
    @EnumSource
    void a_rank_that_leaves_ends_those_that_wait_for_it(GpuAlgorithm algorithm) {
        try (GpuRanks ranks = GpuRanks.form(2, GpuRanks.by(algorithm, OPTIONS))) {
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
    void a_start_between_the_end_of_the_connection_and_that_of_the_team_names_the_rank() {
        AtomicReference<@Nullable GpuCollective> collective = new AtomicReference<>();
        CompletableFuture<Long> start = new CompletableFuture<>();
        EngineObserver observer = new EngineObserver() {
            // the memory of the rank is gone then, and the team does not know why
            @Override
            public void connectionChanged(Connection connection, ConnectionState state, String reason) {
                GpuCollective started = state.compareTo(ConnectionState.CLOSED) < 0 ? null : collective.getAndSet(null);
                if (started != null) {
                    try {
                        start.complete(started.start());
                    } catch (SluiceException e) {
                        start.completeExceptionally(e);
                    }
                }
            }
        };
        try (GpuRanks ranks = GpuRanks.observed(observer, OPTIONS)) {
            List<TeamRegion> regions = ranks.share(BYTES);
            collective.set(sum(ranks, 0, regions.get(0), 100));
            Patience.await(ranks.engine(1).closeAsync());
            assertThat(failure(start))
                    .isInstanceOfSatisfying(
                            RankFailedException.class,
                            error -> assertThat(error.ranks()).containsExactly(1));
        }
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"barrier, 400", "400, gather", "gather, 400", "broadcast, 400"})
    void a_collective_is_no_other_of_all_that_go_another_way(String first, String second) {
        a_collective_is_no_other_one_that_goes_another_way(first, second);
    }

    /** Kernels of one kind see that a rank has started one of another kind, without looking where those put their bytes. */
    @ParameterizedTest
    @CsvSource({"barrier, 100", "100, 1000", "100, 400", "400, 1000", "400, broadcast"})
    void a_collective_is_no_other_one_that_goes_another_way(String first, String second) {
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS.withExchangeBytes(1024).withPushBytes(2048))) {
            List<TeamRegion> regions = ranks.share(BYTES);
            List<CompletableFuture<Void>> ends = ranks.start(
                    List.of(named(first, ranks, 0, regions.get(0)), named(second, ranks, 1, regions.get(1))));
            ends.forEach(each -> assertThat(failure(each))
                    .isInstanceOfAny(CollectiveMismatchException.class, TeamRevokedException.class));
        }
    }

    private static GpuCollective named(String name, GpuRanks ranks, int rank, TeamRegion region) {
        GpuTeam gpu = ranks.gpu(rank);
        return switch (name) {
            case "barrier" -> gpu.barrier();
            case "broadcast" -> gpu.broadcast(region, 0, region, 0, 400, 0);
            case "gather" -> gpu.allGather(region, 0, region, 1600, 1200);
            default -> sum(ranks, rank, region, Integer.parseInt(name));
        };
    }

    /** Sums are made of the slots alone once all flags are there: no rank gets a sum of others. */
    @Test
    void a_rank_that_gives_up_on_pushes_has_no_sum() {
        try (GpuRanks ranks =
                GpuRanks.form(2, GpuRanks.by(GpuAlgorithm.PUSHES, OPTIONS).withTimeout(Duration.ofMillis(300)))) {
            List<TeamRegion> regions = ranks.share(BYTES);
            GpuRanks.GpuBytes own = ranks.bytes(0, regions.get(0).local());
            byte[] before = new byte[BYTES];
            Arrays.fill(before, (byte) 7);
            own.put(before);
            assertThat(failure(ranks.start(0, sum(ranks, 0, regions.get(0), 1000))))
                    .isInstanceOf(CollectiveTimeoutException.class);
            assertThat(own.get(BYTES)).isEqualTo(before);
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
            List<CompletableFuture<GpuTeam>> forming = new ArrayList<>();
            forming.addAll(ranks.formGpuTeams(rank -> OPTIONS.withBlocks(4 + rank)));
            forming.addAll(ranks.formGpuTeams(rank -> OPTIONS.withPushBytes(16 * rank)));
            for (CompletableFuture<GpuTeam> each : forming) {
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
        assertThatThrownBy(() -> OPTIONS.withPushBytes(-1)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> OPTIONS.withPushBytes((64 << 20) + 1)).isInstanceOf(IllegalArgumentException.class);
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
            assertThat(barrier.algorithm()).isEqualTo(GpuAlgorithm.MESSAGES);
        }
    }
}
