package io.sluice.collectives.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.collectives.CollectiveKind;
import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.collectives.ElementType;
import io.sluice.collectives.ReduceOperation;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a GPU team counts. */
class GpuTeamMetricsTest {
    private static final GpuTeamOptions OPTIONS =
            GpuTeamOptions.defaults().withTimeout(Patience.BOUND).withBlocks(4).withExchangeBytes(1024);

    private static GpuCollective sum(GpuRanks ranks, int rank, TeamRegion region, int count) {
        return ranks.gpu(rank).allReduce(region, 0, region, 0, count, ElementType.INT32, ReduceOperation.SUM);
    }

    private static GpuCollectiveMetrics of(GpuRanks ranks, int rank, CollectiveKind kind, GpuAlgorithm algorithm) {
        return ranks.gpu(rank).metrics().collectives().stream()
                .filter(each -> each.kind() == kind && each.algorithm() == algorithm)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void startsAreCountedByKindAndAlgorithmAndThoseInGraphsAsWell() {
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS)) {
            List<TeamRegion> regions = ranks.share(16 << 10);
            GpuTeamMetrics metrics = ranks.gpu(0).metrics();
            assertThat(metrics.collectives()).isEmpty();
            assertThat(metrics.team()).isEqualTo(ranks.team(0).name());
            assertThat(metrics.gpu()).isEqualTo(ranks.device(0));
            // one of them waits for the other rank
            CompletableFuture<Void> first = ranks.start(0, sum(ranks, 0, regions.get(0), 100));
            GpuCollectiveMetrics small = of(ranks, 0, CollectiveKind.ALL_REDUCE, GpuAlgorithm.MESSAGES);
            assertThat(small.started()).isEqualTo(1);
            assertThat(small.ended()).isZero();
            assertThat(small.inFlight()).isEqualTo(1);
            Patience.await(ranks.start(1, sum(ranks, 1, regions.get(1), 100)));
            Patience.await(first);
            assertThat(small.ended()).isEqualTo(1);
            assertThat(small.inFlight()).isZero();
            assertThat(small.bytes()).isEqualTo(400);
            ranks.start(List.of(sum(ranks, 0, regions.get(0), 1000), sum(ranks, 1, regions.get(1), 1000)))
                    .forEach(Patience::await);
            assertThat(of(ranks, 0, CollectiveKind.ALL_REDUCE, GpuAlgorithm.PUSHES)
                            .bytes())
                    .isEqualTo(4000);
            // enough for the memory of works to be used again
            for (int i = 0; i < 40; i++) {
                startGraphs(ranks, regions, 50);
            }
            assertThat(small.started()).isEqualTo(2001);
            assertThat(small.ended()).isEqualTo(2001);
            assertThat(small.bytes()).isEqualTo(2001 * 400);
            GpuCollectiveMetrics gathers = of(ranks, 1, CollectiveKind.ALL_GATHER, GpuAlgorithm.MESSAGES);
            assertThat(gathers.ended()).isEqualTo(40);
            // the blocks of both ranks
            assertThat(gathers.bytes()).isEqualTo(40 * 2 * 64);
            assertThat(metrics.singleStarts()).isEqualTo(2);
            assertThat(metrics.graphStarts()).isEqualTo(40);
            assertThat(metrics.refusedStarts()).isZero();
            assertThat(metrics.reached()).isEqualTo(42);
            assertThat(metrics.hasFailed()).isFalse();
        }
    }

    private static void startGraphs(GpuRanks ranks, List<TeamRegion> regions, int sums) {
        List<GpuCollectiveGraph> graphs = IntStream.range(0, 2)
                .mapToObj(rank -> {
                    TeamRegion region = regions.get(rank);
                    List<GpuCollective> all = new ArrayList<>(Collections.nCopies(sums, sum(ranks, rank, region, 100)));
                    all.add(ranks.gpu(rank).allGather(region, 0, region, 1024, 64));
                    return ranks.gpu(rank).graph(all);
                })
                .toList();
        graphs.forEach(GpuCollectiveGraph::start);
        for (int rank = 0; rank < 2; rank++) {
            int each = rank;
            long number = ranks.gpu(rank).stream().submitted();
            Patience.until("the graph is done", () -> ranks.gpu(each).stream().reached() >= number);
        }
        graphs.forEach(GpuCollectiveGraph::close);
    }

    @Test
    void whatFailsIsSaidAndRefusedStartsAreCounted() {
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS.withTimeout(Duration.ofMillis(200)))) {
            List<TeamRegion> regions = ranks.share(4096);
            GpuCollective alone = sum(ranks, 0, regions.get(0), 100);
            assertThat(ranks.start(0, alone))
                    .failsWithin(Patience.BOUND)
                    .withThrowableOfType(java.util.concurrent.ExecutionException.class)
                    .withCauseInstanceOf(CollectiveTimeoutException.class);
            GpuTeamMetrics metrics = ranks.gpu(0).metrics();
            assertThat(metrics.hasFailed()).isTrue();
            assertThatThrownBy(alone::start).isInstanceOf(SluiceException.class);
            assertThat(metrics.refusedStarts()).isEqualTo(1);
            assertThat(metrics.singleStarts()).isEqualTo(1);
        }
    }

    @Test
    void aClosedTeamHasNotFailedAndItsFiguresStay() {
        GpuTeamMetrics metrics;
        GpuCollectiveMetrics barriers;
        try (GpuRanks ranks = GpuRanks.form(2, OPTIONS)) {
            metrics = ranks.gpu(0).metrics();
            ranks.start(List.of(ranks.gpu(0).barrier(), ranks.gpu(1).barrier())).forEach(Patience::await);
            barriers = of(ranks, 0, CollectiveKind.BARRIER, GpuAlgorithm.MESSAGES);
        }
        assertThat(barriers.ended()).isEqualTo(1);
        assertThat(barriers.bytes()).isZero();
        assertThat(metrics.reached()).isEqualTo(1);
        assertThat(metrics.hasFailed()).isFalse();
    }
}
