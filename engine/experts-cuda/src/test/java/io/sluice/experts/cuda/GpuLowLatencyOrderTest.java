package io.sluice.experts.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.LowLatencyResult;
import io.sluice.experts.TooManyLiveResultsException;
import io.sluice.experts.cuda.LowLatencyPairs.Choice;
import io.sluice.experts.cuda.LowLatencyPairs.Form;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Results are taken, combined and given back in their order; what is not possible is refused before anything starts. */
class GpuLowLatencyOrderTest {
    private static final int MOST_TOKENS = 4;
    private static final ExpertOptions OPTIONS = ExpertOptions.experts(4)
            .hidden(128)
            .maxTokensPerRank(MOST_TOKENS)
            .topK(2)
            .timeout(Patience.BOUND);

    private static LowLatencyPairs pairs(int size) {
        return pairs(Islands.one(size));
    }

    private static LowLatencyPairs pairs(Islands islands) {
        LowLatencyPairs pairs = new LowLatencyPairs(islands, OPTIONS);
        int size = islands.size();
        int[] tokens = new int[size];
        for (int rank = 0; rank < size; rank++) {
            tokens[rank] = MOST_TOKENS - rank;
        }
        pairs.draw(tokens, Choice.MASKED, 7);
        return pairs;
    }

    @Test
    void a_third_live_result_is_refused_and_the_others_go_on() {
        try (LowLatencyPairs pairs = pairs(2)) {
            List<GpuDispatch> first = dispatches(pairs, DispatchFormat.BF16);
            pairs.ranks.run(rank -> first.get(rank)::start);
            List<GpuDispatch> second = dispatches(pairs, DispatchFormat.FP8);
            assertThatThrownBy(() -> pairs.rank(0).dispatch(DispatchFormat.BF16))
                    .isInstanceOf(TooManyLiveResultsException.class)
                    .hasMessageContaining("close one");
            second.forEach(GpuDispatch::close);
            for (Form form : Form.values()) {
                pairs.check("with a live result, " + form, DispatchFormat.BF16, form);
            }
            first.forEach(GpuDispatch::close);
            pairs.check("after it", DispatchFormat.FP8, Form.CALL);
        }
    }

    private static List<GpuDispatch> dispatches(LowLatencyPairs pairs, DispatchFormat format) {
        List<GpuDispatch> made = new ArrayList<>();
        for (int rank = 0; rank < pairs.ranks.size(); rank++) {
            made.add(pairs.rank(rank).dispatch(format));
        }
        return made;
    }

    /** The host waits for none of them: sets and results are in order on the GPU. */
    @Test
    void many_calls_follow_each_other_with_poisoned_outputs() {
        runManyCalls(Islands.one(2), 5);
    }

    /** The host carries rows, and copies and words of different calls overtake each other where they may. */
    @ParameterizedTest
    @Tag("soak")
    @ValueSource(longs = {1, 5_000, 20_000, 100_000, 500_000})
    void many_calls_follow_each_other_where_the_host_carries_rows_late(long nanos) {
        try (SoftGpuSetting delays = SoftGpuSetting.delays(nanos)) {
            runManyCalls(new Islands(".."), 20);
        }
    }

    private static void runManyCalls(Islands islands, int rounds) {
        try (LowLatencyPairs pairs = pairs(islands)) {
            List<GpuDispatch> first = dispatches(pairs, DispatchFormat.BF16);
            List<GpuDispatch> second = dispatches(pairs, DispatchFormat.FP8);
            pairs.ranks.run(rank -> first.get(rank)::start);
            pairs.ranks.run(rank -> second.get(rank)::start);
            List<GpuCombine> combines = new ArrayList<>();
            List<GpuCombine> others = new ArrayList<>();
            List<GpuExpertRanks.GpuBytes> outs = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                LowLatencyPairs.Rank rank = pairs.rank(i);
                LowLatencyResult result = first.get(i).result();
                GpuExpertRanks.GpuBytes y = rank.bytes(result.combineBuffer());
                for (int salt = 0; salt < 2; salt++) {
                    pairs.fillResults(
                            rank,
                            rank.bytes(result.ranges()).get(),
                            rank.bytes(result.sources()).get(),
                            (salt == 0 ? y : rank.yBytes).host(),
                            salt);
                }
                y.put();
                rank.yBytes.put();
                MemoryRegion out = pairs.ranks.region(i, rank.out.length());
                outs.add(pairs.ranks.bytes(i, out));
                combines.add(rank.combine(result, result.combineBuffer()));
                others.add(rank.gpu()
                        .prepareCombine(
                                second.get(i).result(),
                                rank.y,
                                0,
                                rank.choices,
                                0,
                                rank.weights,
                                0,
                                out,
                                0,
                                CombineOptions.defaults()));
            }
            for (int round = 0; round < rounds; round++) {
                outs.forEach(out -> out.fill(0xA5));
                pairs.rank(0).outBytes.fill(0xA5);
                pairs.rank(1).outBytes.fill(0xA5);
                for (int i = 0; i < 6; i++) {
                    for (int rank = 0; rank < 2; rank++) {
                        first.get(rank).startUnnumbered();
                        second.get(rank).startSend();
                        combines.get(rank).startSend();
                        second.get(rank).startReceive();
                        others.get(rank).startUnnumbered();
                        combines.get(rank).startReceive();
                    }
                }
                // the last ones are waited for
                pairs.ranks.run(rank -> first.get(rank)::start);
                for (int rank = 0; rank < 2; rank++) {
                    pairs.checkSums(
                            "first", pairs.rank(rank), pairs.rank(rank).outBytes.get(), 0);
                    pairs.checkSums("second", pairs.rank(rank), outs.get(rank).get(), 1);
                }
            }
        }
    }

    /** Rank 1 has second halves to come, whose sets rank 0 would write again. */
    @Test
    void a_set_is_not_written_again_before_all_have_taken_what_it_had() {
        checkTaken(Islands.one(2));
    }

    @Test
    @Tag("soak")
    void a_set_is_not_written_again_before_all_have_taken_what_the_host_carries() {
        checkTaken(new Islands(".."));
    }

    private static void checkTaken(Islands islands) {
        try (LowLatencyPairs pairs = pairs(islands)) {
            pairs.draw(new int[] {MOST_TOKENS, MOST_TOKENS}, Choice.RANDOM, 5);
            List<GpuDispatch> first = dispatches(pairs, DispatchFormat.BF16);
            List<GpuDispatch> second = dispatches(pairs, DispatchFormat.BF16);
            pairs.ranks.run(rank -> first.get(rank)::startSend);
            Patience.await(pairs.ranks.start(0, first.get(0)::startReceive));
            LowLatencyPairs.Rank rank0 = pairs.rank(0);
            byte[] before = rank0.xBytes.host().toArray(ValueLayout.JAVA_BYTE);
            rank0.xBytes.fill(0x11);
            pairs.ranks.run(rank -> second.get(rank)::start);
            CompletableFuture<?> third = pairs.ranks.start(0, first.get(0)::startSend);
            assertThat(third).isNotDone();
            Patience.await(pairs.ranks.start(1, first.get(1)::startReceive));
            Patience.await(third);
            checkRowsOfRank0(pairs, first.get(1).result(), before);
            // rank 1 takes part in the third
            pairs.ranks.run(rank -> rank == 0 ? first.get(0)::startReceive : first.get(1)::start);
            checkCombine(pairs, first, second);
        }
    }

    private static void checkRowsOfRank0(LowLatencyPairs pairs, LowLatencyResult result, byte[] x) {
        LowLatencyPairs.Rank rank = pairs.rank(1);
        long[] ranges = rank.bytes(result.ranges()).get().toArray(ValueLayout.JAVA_LONG);
        int[] sources = rank.bytes(result.sources()).get().toArray(ValueLayout.JAVA_INT);
        byte[] rows = rank.bytes(result.tokens()).get().toArray(ValueLayout.JAVA_BYTE);
        int bytes = OPTIONS.hidden() * Short.BYTES;
        int checked = 0;
        for (int local = 0; local < 2; local++) {
            for (int i = 0; i < (int) ranges[2 * local]; i++) {
                int row = local * 2 * MOST_TOKENS + i;
                int token = sources[row];
                assertThat(Arrays.copyOfRange(rows, row * bytes, (row + 1) * bytes))
                        .isEqualTo(Arrays.copyOfRange(x, token * bytes, (token + 1) * bytes));
                checked++;
            }
        }
        assertThat(checked).isPositive();
    }

    private static void checkCombine(LowLatencyPairs pairs, List<GpuDispatch> first, List<GpuDispatch> second) {
        LowLatencyPairs.Rank rank1 = pairs.rank(1);
        List<GpuCombine> combines = new ArrayList<>();
        List<GpuCombine> others = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            putResults(pairs, i, first.get(i).result(), 0);
            combines.add(pairs.rank(i).combine(first.get(i).result(), pairs.rank(i).y));
            MemoryRegion buffer = second.get(i).result().combineBuffer();
            pairs.rank(i).bytes(buffer).fill(0);
            others.add(pairs.rank(i).combine(second.get(i).result(), buffer));
        }
        pairs.ranks.run(rank -> combines.get(rank)::startSend);
        Patience.await(pairs.ranks.start(0, combines.get(0)::startReceive));
        pairs.ranks.run(rank -> others.get(rank)::start);
        // each in a result that is free
        pairs.ranks.run(rank -> rank == 0 ? first.get(0)::start : second.get(1)::start);
        putResults(pairs, 0, first.get(0).result(), 1);
        // else the next one would change nothing there
        assertThat(LongStream.of(rank1.choiceBytes.host().toArray(ValueLayout.JAVA_LONG))
                        .limit(rank1.tokens * 2L))
                .containsAnyOf(0L, 1L);
        CompletableFuture<?> third = pairs.ranks.start(0, combines.get(0)::startSend);
        assertThat(third).isNotDone();
        rank1.outBytes.fill(0);
        Patience.await(pairs.ranks.start(1, combines.get(1)::startReceive));
        Patience.await(third);
        pairs.checkSums("taken late", rank1, rank1.outBytes.get(), 0);
        pairs.ranks.run(rank -> rank == 0 ? combines.get(0)::startReceive : others.get(1)::start);
    }

    private static void putResults(LowLatencyPairs pairs, int on, LowLatencyResult result, int salt) {
        LowLatencyPairs.Rank rank = pairs.rank(on);
        pairs.fillResults(
                rank,
                rank.bytes(result.ranges()).get(),
                rank.bytes(result.sources()).get(),
                rank.yBytes.host(),
                salt);
        rank.yBytes.put();
    }

    @Test
    void calls_out_of_order_are_refused() {
        try (LowLatencyPairs pairs = pairs(1)) {
            LowLatencyPairs.Rank rank = pairs.rank(0);
            GpuDispatch first = rank.dispatch(DispatchFormat.BF16);
            GpuCombine combine = rank.combine(first.result(), rank.y);
            assertThatThrownBy(combine::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no dispatch");
            assertThatThrownBy(first::startReceive).isInstanceOf(IllegalStateException.class);
            pairs.ranks.run(each -> first::startSend);
            assertThatThrownBy(first::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("second half");
            assertThatThrownBy(combine::start).isInstanceOf(IllegalStateException.class);
            GpuDispatch second = rank.dispatch(DispatchFormat.BF16);
            pairs.ranks.run(each -> second::start);
            // it would write what the first has not taken
            assertThatThrownBy(second::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("earlier dispatch");
            pairs.ranks.run(each -> first::startReceive);
            pairs.ranks.run(each -> combine::start);
            assertThatThrownBy(combine::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("combined already");
            pairs.ranks.run(each -> first::start);
            pairs.ranks.run(each -> combine::startSend);
            assertThatThrownBy(combine::startSend).isInstanceOf(IllegalStateException.class);
            // the memory stays until the second half
            first.close();
            assertThatThrownBy(() -> rank.dispatch(DispatchFormat.BF16))
                    .isInstanceOf(TooManyLiveResultsException.class);
            pairs.ranks.run(each -> combine::startReceive);
            assertThatThrownBy(combine::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");
            assertThatThrownBy(first::start).isInstanceOf(IllegalStateException.class);
            second.close();
            pairs.check("after all", DispatchFormat.BF16, Form.CALL);
        }
    }

    @Test
    void regions_are_kept_as_long_as_calls_use_them() {
        try (LowLatencyPairs pairs = pairs(1)) {
            LowLatencyPairs.Rank rank = pairs.rank(0);
            pairs.check("called", DispatchFormat.BF16, Form.CALL);
            pairs.check("hooked", DispatchFormat.BF16, Form.HOOK);
            MemoryRegion x = pairs.ranks.region(0, rank.x.length());
            GpuDispatch dispatch = rank.gpu().prepareDispatch(x, 0, rank.choices, 0, 1, DispatchOptions.defaults());
            pairs.ranks.run(each -> dispatch::start);
            CompletableFuture<Void> closing = x.close();
            Patience.await(closing);
            assertThatThrownBy(dispatch::start).isInstanceOf(RuntimeException.class);
            dispatch.close();
            pairs.check("and others go on", DispatchFormat.BF16, Form.CALL);
            // those of calls that have ended
            Patience.await(rank.y.close());
            Patience.await(rank.x.close());
            Patience.await(rank.out.close());
        }
    }

    @Test
    void statistics_are_added_up() {
        try (LowLatencyPairs pairs = pairs(1)) {
            LowLatencyPairs.Rank rank = pairs.rank(0);
            MemoryRegion statistics = pairs.ranks.region(0, 8 + 4 * Integer.BYTES);
            GpuExpertRanks.GpuBytes bytes = pairs.ranks.bytes(0, statistics);
            bytes.host().fill((byte) 0);
            bytes.host().setAtIndex(ValueLayout.JAVA_INT, 2, 100);
            bytes.put();
            GpuDispatch dispatch = rank.gpu()
                    .prepareDispatch(
                            rank.x,
                            0,
                            rank.choices,
                            0,
                            rank.tokens,
                            DispatchOptions.defaults().withStatistics(statistics, 8));
            for (int i = 0; i < 3; i++) {
                pairs.ranks.run(each -> dispatch::start);
            }
            bytes.get();
            for (int expert = 0; expert < 4; expert++) {
                assertThat(bytes.host().getAtIndex(ValueLayout.JAVA_INT, 2L + expert))
                        .isEqualTo(3 * dispatch.result().count(expert) + (expert == 0 ? 100 : 0));
            }
        }
    }

    @Test
    void bad_arguments_are_refused() {
        try (LowLatencyPairs pairs = pairs(1)) {
            LowLatencyPairs.Rank rank = pairs.rank(0);
            GpuLowLatency gpu = rank.gpu();
            DispatchOptions plain = DispatchOptions.defaults();
            assertThatThrownBy(() -> gpu.prepareDispatch(rank.x, 0, rank.choices, 0, MOST_TOKENS + 1, plain))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> gpu.prepareDispatch(rank.x, 0, rank.choices, 0, -1, plain))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> gpu.prepareDispatch(rank.x, 16, rank.choices, 0, MOST_TOKENS, plain))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> gpu.prepareDispatch(rank.x, 8, rank.choices, 0, 1, plain))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("multiple of 16");
            assertThatThrownBy(() -> gpu.prepareDispatch(rank.xBytes.region(), 0, rank.choices, 0, 1, plain))
                    .isInstanceOf(MemoryNotAccessibleException.class);
            assertThatThrownBy(() -> gpu.prepareDispatch(
                            rank.x, 0, rank.choices, 0, 1, plain.withFormat(DispatchFormat.FP8_UE8M0)))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("512");
            GpuDispatch dispatch = rank.dispatch(DispatchFormat.BF16);
            assertThatThrownBy(() -> gpu.prepareCombine(
                            dispatch.result(),
                            rank.x,
                            0,
                            rank.choices,
                            0,
                            rank.weights,
                            0,
                            rank.out,
                            0,
                            CombineOptions.defaults()))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            dispatch.close();
            assertThatThrownBy(() -> rank.combine(dispatch.result(), rank.y)).isInstanceOf(IllegalStateException.class);
            // nothing was taken
            pairs.check("after all", DispatchFormat.BF16, Form.CALL);
            try (GpuExpertRanks none = GpuExpertRanks.form(1, GpuExpertOptions.of(OPTIONS.lowLatency(false)))) {
                assertThatThrownBy(() -> none.buffer(0).lowLatency()).isInstanceOf(IllegalStateException.class);
            }
            assertThat(dispatch.result().format()).isEqualTo(DispatchFormat.BF16);
        }
    }
}
