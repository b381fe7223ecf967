package io.sluice.collectives.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.RankFailedException;
import io.sluice.collectives.ReduceOperation;
import io.sluice.collectives.TeamRevokedException;
import io.sluice.cuda.GpuClosedException;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.Patience;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Collectives in graphs have the results of those that are started one by one, in every replay. */
class GpuCollectiveGraphTest {
    private static final int BYTES = 24 << 10;
    private static final int REPLAYS = 60;
    private static final GpuTeamOptions OPTIONS =
            GpuTeamOptions.defaults().withTimeout(Patience.BOUND).withBlocks(4).withPushBytes(0);

    /** Each of them uses what the one before it has made, so that one that reads too early, or old messages, changes the end. */
    private static List<GpuCollective> chain(GpuTeam gpu, TeamRegion region) {
        int n = gpu.team().size();
        int count = 252;
        int block = 4 * count;
        int next = n * block;
        List<GpuCollective> chain = new ArrayList<>();
        chain.add(gpu.allReduce(region, 0, region, next, count, ElementType.FLOAT32, ReduceOperation.AVERAGE));
        chain.add(gpu.broadcast(region, next, region, next, block, n - 1));
        chain.add(gpu.allGather(region, next, region, 0, block));
        chain.add(gpu.allToAll(region, 0, region, next, block));
        chain.add(gpu.reduceScatter(region, next, region, 0, count, ElementType.INT32, ReduceOperation.SUM));
        chain.add(gpu.barrier());
        chain.add(gpu.reduce(region, 0, region, 2 * next, count, ElementType.INT8, ReduceOperation.MAX, 0));
        chain.add(gpu.allReduce(region, 0, region, 0, 3 * count, ElementType.UINT32, ReduceOperation.SUM));
        return chain;
    }

    private static byte[] source(int rank) {
        byte[] source = new byte[BYTES];
        new Random(rank).nextBytes(source);
        return source;
    }

    private static CompletableFuture<Void> ended(GpuTeam gpu, long number) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        gpu.onReached((wait, reached, error) -> {
                    if (error == null) {
                        end.complete(null);
                    } else {
                        end.completeExceptionally(error);
                    }
                    wait.close();
                })
                .arm(number);
        return end;
    }

    /** What a rank starts in a round, and the number of the last of it. */
    private interface Round {
        long start(int rank, int round);
    }

    private static List<byte[]> results(GpuRanks ranks, List<TeamRegion> regions, Round each) {
        for (int rank = 0; rank < ranks.size(); rank++) {
            ranks.bytes(rank, regions.get(rank).local()).put(source(rank));
        }
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int round = 0; round < REPLAYS; round++) {
            for (int rank = 0; rank < ranks.size(); rank++) {
                long number = each.start(rank, round);
                if (round % 8 == 7 || round == REPLAYS - 1) {
                    ends.add(ended(ranks.gpu(rank), number));
                }
            }
            if (round % 8 == 7) {
                ends.forEach(Patience::await);
            }
        }
        ends.forEach(Patience::await);
        List<byte[]> results = new ArrayList<>();
        for (int rank = 0; rank < ranks.size(); rank++) {
            results.add(ranks.bytes(rank, regions.get(rank).local()).get(BYTES));
        }
        return results;
    }

    private static long startAll(List<GpuCollective> chain) {
        chain.subList(0, chain.size() - 1).forEach(GpuCollective::startUnnumbered);
        return chain.getLast().start();
    }

    @ParameterizedTest
    @Tag("soak")
    @CsvSource({"2, 8, 0", "3, 65536, 0", "3, 8, 65536", "4, 4000, 65536"})
    void replays_in_other_teams_have_the_bits_of_collectives_that_are_started_one_by_one(
            int size, int exchangeBytes, int pushBytes) {
        replays_have_the_bits_of_collectives_that_are_started_one_by_one(size, exchangeBytes, pushBytes);
    }

    @ParameterizedTest
    @CsvSource({"2, 65536, 0", "3, 8, 0", "2, 1000, 65536"})
    void replays_have_the_bits_of_collectives_that_are_started_one_by_one(int size, int exchangeBytes, int pushBytes) {
        GpuTeamOptions options = OPTIONS.withExchangeBytes(exchangeBytes).withPushBytes(pushBytes);
        try (GpuRanks ranks = GpuRanks.form(size, options)) {
            List<TeamRegion> regions = ranks.share(BYTES);
            List<List<GpuCollective>> chains = new ArrayList<>();
            List<GpuCollectiveGraph> graphs = new ArrayList<>();
            for (int rank = 0; rank < size; rank++) {
                chains.add(chain(ranks.gpu(rank), regions.get(rank)));
                graphs.add(ranks.gpu(rank).graph(chains.get(rank)));
            }
            assertThat(chains.getFirst().stream().anyMatch(each -> each.algorithm() == GpuAlgorithm.PUSHES))
                    .isEqualTo(pushBytes > 0);
            assertThat(graphs.getFirst().collectives())
                    .isEqualTo(chains.getFirst().size());
            List<byte[]> wanted = results(ranks, regions, (rank, round) -> startAll(chains.get(rank)));
            assertThat(wanted.getFirst()).isNotEqualTo(source(0));
            List<byte[]> replayed =
                    results(ranks, regions, (rank, round) -> graphs.get(rank).start());
            // some ranks by a graph, others one by one, in turn
            List<byte[]> mixed = results(
                    ranks,
                    regions,
                    (rank, round) -> (rank + round) % 2 == 0
                            ? startAll(chains.get(rank))
                            : graphs.get(rank).start());
            for (int rank = 0; rank < size; rank++) {
                assertThat(replayed.get(rank)).as("of rank %d", rank).isEqualTo(wanted.get(rank));
                assertThat(mixed.get(rank)).as("of rank %d", rank).isEqualTo(wanted.get(rank));
            }
            graphs.forEach(graph -> Patience.await(graph.closeAsync()));
        }
    }

    @Test
    void one_collective_many_times_is_that_many_and_a_start_allocates_nothing() {
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS)) {
            List<TeamRegion> regions = ranks.share(BYTES);
            List<GpuCollectiveGraph> graphs = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                byte[] ones = new byte[BYTES];
                ones[0] = 1;
                ranks.bytes(rank, regions.get(rank).local()).put(ones);
                TeamRegion region = regions.get(rank);
                graphs.add(ranks.gpu(rank)
                        .graph(Collections.nCopies(
                                20,
                                ranks.gpu(rank)
                                        .allReduce(region, 0, region, 0, 1, ElementType.INT64, ReduceOperation.SUM))));
            }
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long least = Long.MAX_VALUE;
            for (int round = 0; round < 30; round++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                long first = graphs.get(0).start();
                long second = graphs.get(1).start();
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
                Patience.await(ended(ranks.gpu(0), first));
                Patience.await(ended(ranks.gpu(1), second));
                long sum = ReferenceReduction.longAt(
                        ranks.bytes(round % 2, regions.get(round % 2).local()).get(8), 0);
                // twice as much 20 times, modulo 2^64
                assertThat(sum).isEqualTo(20 * (round + 1) < 64 ? 1L << 20 * (round + 1) : 0);
            }
            assertThat(least).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_rank_that_is_lost_ends_the_graphs_of_the_others(GpuAlgorithm algorithm) {
        try (GpuRanks ranks = GpuRanks.form(3, GpuRanks.by(algorithm, OPTIONS))) {
            List<TeamRegion> regions = ranks.share(BYTES);
            List<GpuCollectiveGraph> graphs = new ArrayList<>();
            List<CompletableFuture<Void>> ends = new ArrayList<>();
            for (int rank = 0; rank < 3; rank++) {
                GpuTeam gpu = ranks.gpu(rank);
                graphs.add(gpu.graph(chain(gpu, regions.get(rank))));
            }
            for (int rank = 0; rank < 3; rank++) {
                ends.add(ended(ranks.gpu(rank), graphs.get(rank).start()));
            }
            ends.forEach(Patience::await);
            ends.clear();
            for (int rank = 0; rank < 2; rank++) {
                ends.add(ended(ranks.gpu(rank), graphs.get(rank).start()));
            }
            Patience.await(ranks.engine(2).closeAsync());
            for (CompletableFuture<Void> each : ends) {
                assertThat(Patience.failure(each, RankFailedException.class).ranks())
                        .containsExactly(2);
            }
            for (int rank = 0; rank < 2; rank++) {
                assertThatThrownBy(graphs.get(rank)::start).isInstanceOf(RankFailedException.class);
                Patience.await(graphs.get(rank).closeAsync());
            }
        }
    }

    @Test
    void ranks_with_different_graphs_get_an_error() {
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS)) {
            List<TeamRegion> regions = ranks.share(BYTES);
            List<CompletableFuture<Void>> ends = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                GpuTeam gpu = ranks.gpu(rank);
                List<GpuCollective> chain = chain(gpu, regions.get(rank));
                ends.add(ended(
                        gpu, gpu.graph(rank == 0 ? chain : chain.reversed()).start()));
            }
            for (CompletableFuture<Void> each : ends) {
                assertThat(each.handle((nothing, error) -> error)
                                .orTimeout(Patience.BOUND.toMillis(), java.util.concurrent.TimeUnit.MILLISECONDS)
                                .join())
                        .isInstanceOfAny(CollectiveMismatchException.class, TeamRevokedException.class);
            }
        }
    }

    @Test
    void it_is_given_back_once_what_was_started_has_ended() {
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS)) {
            List<GpuCollective> barriers = new ArrayList<>();
            List<GpuCollectiveGraph> graphs = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                barriers.add(ranks.gpu(rank).barrier());
                graphs.add(ranks.gpu(rank).graph(Collections.nCopies(3, barriers.get(rank))));
            }
            CompletableFuture<Void> end = ended(ranks.gpu(0), graphs.getFirst().start());
            CompletableFuture<Void> closing = graphs.getFirst().closeAsync();
            assertThatThrownBy(graphs.getFirst()::start).isInstanceOf(GpuClosedException.class);
            assertThat(closing).isNotDone();
            assertThat(end).isNotDone();
            CompletableFuture<Void> other = ended(ranks.gpu(1), graphs.getLast().start());
            Patience.await(end);
            Patience.await(other);
            Patience.await(closing);
            // and the team closes what was not
            Patience.await(ranks.gpu(1).closeAsync());
            assertThatThrownBy(graphs.getLast()::start).isInstanceOf(SluiceException.class);
            assertThatThrownBy(() -> ranks.gpu(1).graph(List.of(barriers.getLast())))
                    .isInstanceOf(SluiceException.class);
        }
    }

    @Test
    void what_is_no_graph_of_the_team_is_refused() {
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS)) {
            GpuTeam gpu = ranks.gpu(0);
            assertThatThrownBy(() -> gpu.graph(List.of())).isInstanceOf(IllegalArgumentException.class);
            GpuCollective foreign = ranks.gpu(1).barrier();
            assertThatThrownBy(() -> gpu.graph(List.of(gpu.barrier(), foreign)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("of the GPU team");
        }
    }
}
