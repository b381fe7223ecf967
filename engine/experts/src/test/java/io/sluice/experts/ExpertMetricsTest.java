package io.sluice.experts;

import static io.sluice.experts.ExpertRanks.call;
import static io.sluice.testkit.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.MemoryRegion;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The figures of a buffer: two ranks with two experts each, and the same four tokens of each rank. */
class ExpertMetricsTest {
    private static final int SIZE = 2;
    private static final int TOKENS = 4;
    private static final int HIDDEN = 128;
    private static final int ROW_BYTES = HIDDEN * Short.BYTES;
    private static final int HEADER_BYTES = 16;
    // token t goes to experts t and t + 1, but the last one to the last expert alone
    private static final long[] CHOICES = {0, 1, 1, 2, 2, 3, 3, -1};
    private static final ExpertOptions OPTIONS =
            ExpertOptions.experts(4).hidden(HIDDEN).maxTokensPerRank(TOKENS).topK(2);

    private static ExpertCallMetrics of(ExpertBuffer buffer, ExpertCallKind kind) {
        return buffer.metrics().calls().stream()
                .filter(each -> each.kind() == kind)
                .findFirst()
                .orElseThrow();
    }

    /** The memory of a rank. */
    private record Memory(MemoryRegion x, MemoryRegion choices, MemoryRegion weights, MemoryRegion out) {
        static Memory of(ExpertRanks ranks, int rank) {
            Memory memory = new Memory(
                    ranks.region(rank, TOKENS * ROW_BYTES),
                    ranks.region(rank, CHOICES.length * 8L),
                    ranks.region(rank, CHOICES.length * 4L),
                    // also the rows of normal mode
                    ranks.region(rank, SIZE * TOKENS * ROW_BYTES));
            MemorySegment.copy(CHOICES, 0, memory.choices.segment(), ValueLayout.JAVA_LONG, 0, CHOICES.length);
            return memory;
        }
    }

    private static <T> List<T> all(ExpertRanks ranks, IntFunction<CompletableFuture<T>> onRank) {
        return ranks.each(onRank).stream().map(Patience::await).toList();
    }

    private static CompletableFuture<LowLatencyResult> dispatch(ExpertRanks ranks, List<Memory> memory, int rank) {
        Memory at = memory.get(rank);
        return call(end ->
                ranks.buffer(rank).lowLatencyDispatch(at.x, 0, at.choices, 0, TOKENS, DispatchOptions.defaults(), end));
    }

    private static CompletableFuture<MemoryRegion> combine(
            ExpertRanks ranks, List<Memory> memory, int rank, LowLatencyResult result, CombineFormat format) {
        Memory at = memory.get(rank);
        return call(end -> ranks.buffer(rank)
                .lowLatencyCombine(
                        result,
                        result.tokens(),
                        0,
                        at.choices,
                        0,
                        at.weights,
                        0,
                        at.out,
                        0,
                        CombineOptions.defaults().withFormat(format),
                        end));
    }

    private static void counted(ExpertCallMetrics figures, int sent, int received, long bytesOfToken) {
        assertThat(figures.succeeded()).isEqualTo(1);
        assertThat(figures.failed()).isZero();
        assertThat(figures.tokensSent()).as("%s", figures.kind()).isEqualTo(sent);
        assertThat(figures.tokensReceived()).as("%s", figures.kind()).isEqualTo(received);
        assertThat(figures.bytesSent()).isEqualTo(sent * bytesOfToken);
        assertThat(figures.bytesReceived()).isEqualTo(received * bytesOfToken);
        assertThat(figures.duration().count()).isEqualTo(1);
        assertThat(figures.duration().sumNanos())
                .isEqualTo(figures.queuedNanos() + figures.waitingNanos() + figures.movingNanos());
        assertThat(List.of(figures.queuedNanos(), figures.waitingNanos(), figures.movingNanos()))
                .as("%s", figures.kind())
                .allSatisfy(nanos -> assertThat(nanos).isNotNegative());
    }

    @Test
    void lowLatencyCountsEachTokenOnceAnExpert() {
        try (ExpertRanks ranks = ExpertRanks.form("shm", SIZE, OPTIONS)) {
            List<Memory> memory = ranks.each(rank -> Memory.of(ranks, rank));
            List<ReceiveHook<LowLatencyResult>> hooks = all(
                    ranks,
                    rank -> call(end -> ranks.buffer(rank)
                            .lowLatencyDispatchHooked(
                                    memory.get(rank).x,
                                    0,
                                    memory.get(rank).choices,
                                    0,
                                    TOKENS,
                                    DispatchOptions.defaults(),
                                    end)));
            List<LowLatencyResult> results =
                    all(ranks, rank -> call(end -> hooks.get(rank).complete(end)));
            all(ranks, rank -> combine(ranks, memory, rank, results.get(rank), CombineFormat.BF16));
            results.forEach(LowLatencyResult::close);
            int sent = 7;
            int[] received = {6, 8};
            int[][] loads = {{2, 4}, {4, 4}};
            for (int rank = 0; rank < SIZE; rank++) {
                ExpertBuffer buffer = ranks.buffer(rank);
                counted(
                        of(buffer, ExpertCallKind.LOW_LATENCY_DISPATCH),
                        sent,
                        received[rank],
                        HEADER_BYTES + ROW_BYTES);
                counted(of(buffer, ExpertCallKind.LOW_LATENCY_COMBINE), received[rank], sent, ROW_BYTES);
                ExpertMetrics metrics = buffer.metrics();
                assertThat(new long[] {metrics.load(0), metrics.load(1)})
                        .containsExactly(loads[rank][0], loads[rank][1]);
                assertThat(metrics.busiestLoad()).isEqualTo(4);
                assertThat(metrics.rank()).isEqualTo(rank);
                assertThat(metrics.ranks()).isEqualTo(SIZE);
                assertThat(metrics.experts()).isEqualTo(4);
                assertThat(metrics.localExperts()).isEqualTo(2);
                assertThat(metrics.team()).isEqualTo(ranks.team(rank).name());
                assertThat(metrics.engine())
                        .isEqualTo(ranks.team(rank).metrics().engine());
            }
        }
    }

    /** The tokens of rank 0 gain by LogFMT, and the zeros of rank 1 travel as they are. */
    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void encodedResultsCountAsTheyTravel(String transport) {
        long extremes = 4;
        long encoded = extremes + HIDDEN / 16 * 20;
        long copied = extremes + ROW_BYTES;
        try (ExpertRanks ranks = ExpertRanks.form(transport, SIZE, OPTIONS)) {
            List<Memory> memory = ranks.each(rank -> Memory.of(ranks, rank));
            for (int i = 0; i < TOKENS * HIDDEN; i++) {
                memory.get(0).x.segment().setAtIndex(ValueLayout.JAVA_SHORT, i, TokenData.bf16(1f / (2 + i % 50)));
            }
            List<LowLatencyResult> results = all(ranks, rank -> dispatch(ranks, memory, rank));
            all(ranks, rank -> combine(ranks, memory, rank, results.get(rank), CombineFormat.LOGFMT));
            ExpertCallMetrics first = of(ranks.buffer(0), ExpertCallKind.LOW_LATENCY_COMBINE);
            ExpertCallMetrics second = of(ranks.buffer(1), ExpertCallKind.LOW_LATENCY_COMBINE);
            assertThat(first.bytesSent()).isEqualTo(3 * encoded + 3 * copied);
            assertThat(second.bytesSent()).isEqualTo(4 * encoded + 4 * copied);
            assertThat(first.bytesReceived()).isEqualTo(7 * encoded);
            assertThat(second.bytesReceived()).isEqualTo(7 * copied);
        }
    }

    @Test
    void normalModeCountsEachTokenOnceARank() {
        try (ExpertRanks ranks = ExpertRanks.form("shm", SIZE, OPTIONS.lowLatency(false))) {
            List<Memory> memory = ranks.each(rank -> Memory.of(ranks, rank));
            List<NormalResult> results = all(ranks, rank -> {
                Memory at = memory.get(rank);
                NormalLayout layout = ranks.buffer(rank).layout(at.choices, 0, TOKENS, null);
                return call(end -> ranks.buffer(rank)
                        .dispatch(at.x, 0, at.choices, 0, at.weights, 0, layout, NormalOptions.defaults(), end));
            });
            all(
                    ranks,
                    rank -> ExpertRanks.<MemoryRegion>call(end -> ranks.buffer(rank)
                            .combine(
                                    results.get(rank).handle(),
                                    memory.get(rank).out,
                                    0,
                                    null,
                                    0,
                                    memory.get(rank).x,
                                    0,
                                    null,
                                    end)));
            int sent = 5;
            int[] received = {4, 6};
            // index, choices and weights, to a multiple of eight
            long noteBytes = 24;
            for (int rank = 0; rank < SIZE; rank++) {
                ExpertBuffer buffer = ranks.buffer(rank);
                assertThat(buffer.metrics().calls())
                        .extracting(ExpertCallMetrics::kind)
                        .containsExactly(ExpertCallKind.DISPATCH, ExpertCallKind.COMBINE);
                counted(of(buffer, ExpertCallKind.DISPATCH), sent, received[rank], ROW_BYTES + noteBytes);
                counted(of(buffer, ExpertCallKind.COMBINE), received[rank], sent, ROW_BYTES);
                assertThat(buffer.metrics().load(1)).isEqualTo(4);
                assertThat(buffer.metrics().busiestLoad()).isEqualTo(4);
            }
        }
    }

    @Test
    void theRankThatComesLateIsTheSlowest() {
        try (ExpertRanks ranks = ExpertRanks.form("shm", SIZE, OPTIONS)) {
            List<Memory> memory = ranks.each(rank -> Memory.of(ranks, rank));
            ExpertMetrics prompt = ranks.buffer(0).metrics();
            Patience.until("rank 0 has seen that rank 1 is missing", () -> {
                CompletableFuture<LowLatencyResult> first = dispatch(ranks, memory, 0);
                await(dispatch(ranks, memory, 1)).close();
                await(first).close();
                return prompt.lastArrivals(1) > 0;
            });
            assertThat(prompt.slowest()).isEqualTo(OptionalInt.of(1));
            assertThat(prompt.waitedNanos(1)).isPositive();
            assertThat(prompt.waitedNanos(0)).isZero();
        }
    }

    @Test
    void failuresAreCounted() {
        try (ExpertRanks ranks = ExpertRanks.form("shm", SIZE, OPTIONS)) {
            List<Memory> memory = ranks.each(rank -> Memory.of(ranks, rank));
            CompletableFuture<LowLatencyResult> pending = dispatch(ranks, memory, 0);
            await(ranks.buffer(1).closeAsync());
            assertThatThrownBy(() -> await(pending)).isInstanceOf(ExpertsLostException.class);
            ExpertCallMetrics figures = of(ranks.buffer(0), ExpertCallKind.LOW_LATENCY_DISPATCH);
            assertThat(figures.failed()).isEqualTo(1);
            assertThat(figures.succeeded()).isZero();
            assertThat(figures.tokensSent()).isZero();
            assertThat(figures.duration().count()).isZero();
        }
    }
}
