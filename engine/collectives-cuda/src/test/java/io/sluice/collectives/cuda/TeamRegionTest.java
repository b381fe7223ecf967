package io.sluice.collectives.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.engine.MemoryRegion;
import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Regions for kernels of the caller's own are mapped on all ranks or on none, which compare what they have in common. */
class TeamRegionTest {
    private static final int RANKS = 3;
    private static final long BYTES = 4096;

    private final GpuRanks ranks = GpuRanks.unformed(RANKS);

    @AfterEach
    void close() {
        ranks.close();
    }

    private List<CompletableFuture<TeamRegion>> map(IntFunction<long[]> common) {
        List<CompletableFuture<MemoryRegion>> regions = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            regions.add(CompletableFuture.completedFuture(ranks.region(rank, BYTES)));
        }
        List<CompletableFuture<TeamRegion>> mapping = new ArrayList<>();
        for (int rank = 0; rank < RANKS; rank++) {
            mapping.add(TeamRegion.map(
                    ranks.team(rank),
                    ranks.device(rank),
                    regions.get(rank),
                    CompletableFuture.completedFuture(null),
                    common.apply(rank)));
        }
        return mapping;
    }

    private void checkMapped(IntFunction<long[]> common) {
        for (CompletableFuture<TeamRegion> each : map(common)) {
            TeamRegion region = Patience.await(each);
            assertThat(region.length()).isEqualTo(BYTES);
            Patience.await(region.closeAsync());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 4, 5, 100})
    void ranks_may_compare_any_number_of_numbers(int count) {
        checkMapped(rank -> LongStream.range(0, count).toArray());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 100})
    void the_last_number_of_a_rank_that_differs_is_seen_and_the_team_is_as_good_as_before(int count) {
        for (CompletableFuture<TeamRegion> each : map(rank -> {
            long[] common = new long[count];
            common[count - 1] = rank == 1 ? 1 : 0;
            return common;
        })) {
            Patience.failure(each, CollectiveMismatchException.class);
        }
        checkMapped(rank -> new long[count]);
    }

    @Test
    void ranks_that_give_more_numbers_than_others_get_an_error() {
        for (CompletableFuture<TeamRegion> each : map(rank -> Arrays.copyOf(new long[] {7}, rank == 2 ? 5 : 1))) {
            Patience.failure(each, CollectiveMismatchException.class);
        }
        checkMapped(rank -> new long[] {7});
    }
}
