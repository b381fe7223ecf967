package io.sluice.experts.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.engine.MemoryRegion;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.ExpertCallKind;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.NormalOptions;
import io.sluice.experts.cuda.LowLatencyPairs.Choice;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What an expert buffer on GPUs counts. */
class GpuExpertMetricsTest {
    private static final ExpertOptions OPTIONS =
            ExpertOptions.experts(4).hidden(128).maxTokensPerRank(4).topK(2).timeout(Patience.BOUND);

    private static GpuExpertCallMetrics of(GpuExpertBuffer buffer, ExpertCallKind kind) {
        return buffer.metrics().calls().stream()
                .filter(each -> each.kind() == kind)
                .findFirst()
                .orElseThrow();
    }

    private static List<Long> counts(GpuExpertBuffer buffer, ExpertCallKind kind) {
        GpuExpertCallMetrics of = of(buffer, kind);
        return List.of(of.started(), of.ended(), of.inFlight(), of.tokens());
    }

    @Test
    void callsCountInWholeInHalvesAndInGraphs() {
        try (LowLatencyPairs pairs = new LowLatencyPairs(2, OPTIONS)) {
            pairs.draw(new int[] {4, 3}, Choice.MASKED, 7);
            GpuExpertBuffer buffer = pairs.ranks.buffer(1);
            List<GpuDispatch> dispatches = new ArrayList<>();
            List<GpuCombine> combines = new ArrayList<>();
            List<GpuExpertGraph> graphs = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                LowLatencyPairs.Rank rank = pairs.rank(i);
                dispatches.add(rank.dispatch(DispatchFormat.BF16));
                combines.add(rank.combine(dispatches.get(i).result(), rank.y));
                graphs.add(pairs.ranks
                        .buffer(i)
                        .graph()
                        .call(dispatches.get(i))
                        .call(combines.get(i))
                        .build());
            }
            assertThat(counts(buffer, ExpertCallKind.LOW_LATENCY_DISPATCH)).containsExactly(0L, 0L, 0L, 0L);
            pairs.ranks.run(rank -> dispatches.get(rank)::startSend);
            // the stream is through with the first half alone
            assertThat(counts(buffer, ExpertCallKind.LOW_LATENCY_DISPATCH)).containsExactly(1L, 0L, 1L, 3L);
            assertThatThrownBy(combines.get(1)::start).isInstanceOf(IllegalStateException.class);
            pairs.ranks.run(rank -> dispatches.get(rank)::startReceive);
            assertThat(counts(buffer, ExpertCallKind.LOW_LATENCY_DISPATCH)).containsExactly(1L, 1L, 0L, 3L);
            pairs.ranks.run(rank -> combines.get(rank)::start);
            pairs.ranks.run(rank -> graphs.get(rank)::start);
            assertThat(counts(buffer, ExpertCallKind.LOW_LATENCY_DISPATCH)).containsExactly(2L, 2L, 0L, 6L);
            assertThat(counts(buffer, ExpertCallKind.LOW_LATENCY_COMBINE)).containsExactly(2L, 2L, 0L, 6L);
            GpuExpertMetrics metrics = buffer.metrics();
            assertThat(metrics.rank()).isEqualTo(1);
            assertThat(metrics.gpu()).isEqualTo(pairs.ranks.device(1));
            assertThat(metrics.singleStarts()).isEqualTo(2);
            assertThat(metrics.graphStarts()).isEqualTo(1);
            assertThat(metrics.refusedStarts()).isEqualTo(1);
            assertThat(metrics.reached()).isEqualTo(4);
            assertThat(metrics.hasFailed()).isFalse();
        }
    }

    @Test
    void callsOfNormalModeCountAndAFailureIsSaid() {
        ExpertOptions normal = OPTIONS.lowLatency(false).timeout(Duration.ofMillis(200));
        GpuExpertMetrics closed;
        try (GpuExpertRanks ranks =
                GpuExpertRanks.form(2, GpuExpertOptions.of(normal).withNormalBlocks(4))) {
            GpuExpertBuffer buffer = ranks.buffer(0);
            MemoryRegion x = ranks.region(0, 4 * 256);
            MemoryRegion choices = ranks.region(0, 4 * 2 * Long.BYTES);
            MemoryRegion weights = ranks.region(0, 4 * 2 * Float.BYTES);
            ranks.bytes(0, choices).fill(-1);
            GpuNormalLayout layout = buffer.normalMode().prepareLayout(choices, 0, 4);
            GpuNormalDispatch dispatch =
                    buffer.normalMode().prepareDispatch(x, 0, choices, 0, weights, 0, layout, NormalOptions.defaults());
            assertThat(ranks.start(0, layout::start)).succeedsWithin(Patience.BOUND);
            assertThat(GpuExpertRanks.failure(ranks.start(0, dispatch::start)))
                    .isInstanceOf(CollectiveTimeoutException.class);
            assertThat(counts(buffer, ExpertCallKind.DISPATCH)).containsExactly(1L, 1L, 0L, 4L);
            assertThat(buffer.metrics().singleStarts()).isEqualTo(2);
            assertThat(buffer.metrics().hasFailed()).isTrue();
            closed = buffer.metrics();
        }
        // a close gives the stream one more, for the other ranks
        assertThat(closed.reached()).isGreaterThanOrEqualTo(2);
    }
}
