package io.sluice.experts.cuda;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.sluice.cuda.GpuClosedException;
import io.sluice.cuda.GpuModule;
import io.sluice.cuda.GpuWork;
import io.sluice.cuda.KernelArguments;
import io.sluice.cuda.LaunchShape;
import io.sluice.cuda.MappedRegion;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.ExpertsLostException;
import io.sluice.experts.LowLatencyResult;
import io.sluice.experts.NormalOptions;
import io.sluice.experts.cuda.LowLatencyPairs.Choice;
import io.sluice.jni.CudaKernels;
import io.sluice.testkit.Patience;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Dispatches and combines in graphs have the results of those that are started one by one, in every replay. */
class GpuExpertGraphTest {
    private static final int MOST_TOKENS = 4;
    private static final int REPLAYS = 20;
    private static final ExpertOptions OPTIONS = ExpertOptions.experts(4)
            .hidden(128)
            .maxTokensPerRank(MOST_TOKENS)
            .topK(2)
            .timeout(Patience.BOUND);

    /** A dispatch and a combine of each rank. */
    private record Round(List<GpuDispatch> dispatches, List<GpuCombine> combines) {
        static Round of(LowLatencyPairs pairs) {
            List<GpuDispatch> dispatches = new ArrayList<>();
            List<GpuCombine> combines = new ArrayList<>();
            for (int i = 0; i < pairs.ranks.size(); i++) {
                LowLatencyPairs.Rank rank = pairs.rank(i);
                dispatches.add(rank.dispatch(DispatchFormat.BF16));
                combines.add(rank.combine(dispatches.get(i).result(), rank.y));
            }
            return new Round(dispatches, combines);
        }

        /** So that combine has results of the experts. */
        void fill(LowLatencyPairs pairs, int salt) {
            pairs.ranks.run(rank -> dispatches.get(rank)::start);
            for (int i = 0; i < pairs.ranks.size(); i++) {
                LowLatencyPairs.Rank rank = pairs.rank(i);
                LowLatencyResult result = dispatches.get(i).result();
                MemorySegment ranges = rank.bytes(result.ranges()).get();
                pairs.fillResults(rank, ranges, rank.bytes(result.sources()).get(), rank.yBytes.host(), salt);
                rank.yBytes.put();
            }
        }

        GpuExpertGraph graph(LowLatencyPairs pairs, int rank) {
            return pairs.ranks
                    .buffer(rank)
                    .graph()
                    .call(dispatches.get(rank))
                    .call(combines.get(rank))
                    .build();
        }

        long start(int rank) {
            dispatches.get(rank).startUnnumbered();
            return combines.get(rank).start();
        }
    }

    private static LowLatencyPairs pairs() {
        LowLatencyPairs pairs = new LowLatencyPairs(2, OPTIONS);
        pairs.draw(new int[] {MOST_TOKENS, MOST_TOKENS - 1}, Choice.MASKED, 7);
        return pairs;
    }

    /** A replay that read old signals would dispatch the tokens of an earlier one, or add what its combine was sent. */
    @Test
    void a_replay_has_the_tokens_and_results_of_its_time() {
        try (LowLatencyPairs pairs = pairs()) {
            Round round = Round.of(pairs);
            List<GpuExpertGraph> graphs = List.of(round.graph(pairs, 0), round.graph(pairs, 1));
            assertThat(graphs.getFirst().kernels()).isEqualTo(4);
            for (int replay = 0; replay < REPLAYS; replay++) {
                int salt = replay;
                pairs.draw(new int[] {MOST_TOKENS, MOST_TOKENS - 1}, Choice.MASKED, 7 + replay);
                round.fill(pairs, salt);
                List<byte[]> rows = new ArrayList<>();
                for (int i = 0; i < 2; i++) {
                    LowLatencyPairs.Rank rank = pairs.rank(i);
                    GpuExpertRanks.GpuBytes tokens =
                            rank.bytes(round.dispatches().get(i).result().tokens());
                    rows.add(tokens.get().toArray(ValueLayout.JAVA_BYTE));
                    rank.outBytes.fill(0xA5);
                    tokens.fill(0xA5);
                }
                // some ranks by a graph, others one by one
                pairs.ranks.run(rank -> (rank + salt) % 3 == 0 ? () -> round.start(rank) : graphs.get(rank)::start);
                for (int i = 0; i < 2; i++) {
                    LowLatencyPairs.Rank rank = pairs.rank(i);
                    pairs.checkSums("replay " + replay, rank, rank.outBytes.get(), salt);
                    assertSameRows(rank, round.dispatches().get(i).result(), rows.get(i));
                }
            }
        }
    }

    /** Those in use; others hold anything. */
    private static void assertSameRows(LowLatencyPairs.Rank rank, LowLatencyResult result, byte[] wanted) {
        MemorySegment counts = rank.bytes(result.counts()).get();
        MemorySegment found = rank.bytes(result.tokens()).get();
        long localExperts = counts.byteSize() / Integer.BYTES;
        long rowsBytes = found.byteSize() / localExperts;
        for (long expert = 0; expert < localExperts; expert++) {
            long first = expert * rowsBytes;
            long bytes = counts.getAtIndex(ValueLayout.JAVA_INT, expert) * 2L * OPTIONS.hidden();
            assertThat(found.asSlice(first, bytes)
                            .mismatch(MemorySegment.ofArray(wanted).asSlice(first, bytes)))
                    .as("rows of expert %d of rank %d", expert, rank.rank)
                    .isEqualTo(-1);
        }
    }

    @Test
    void a_start_allocates_nothing() {
        try (LowLatencyPairs pairs = pairs()) {
            Round round = Round.of(pairs);
            List<GpuExpertGraph> graphs = List.of(round.graph(pairs, 0), round.graph(pairs, 1));
            ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
            long least = Long.MAX_VALUE;
            for (int i = 0; i < REPLAYS; i++) {
                long before = threads.getCurrentThreadAllocatedBytes();
                graphs.get(0).startUnnumbered();
                graphs.get(1).startUnnumbered();
                least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
                pairs.ranks.run(rank -> graphs.get(rank)::start);
            }
            assertThat(least).isZero();
        }
    }

    @Test
    void what_cannot_be_started_one_by_one_cannot_in_a_graph() {
        try (LowLatencyPairs pairs = pairs()) {
            Round round = Round.of(pairs);
            GpuExpertBuffer gpu = pairs.ranks.buffer(0);
            GpuDispatch dispatch = round.dispatches().getFirst();
            GpuCombine combine = round.combines().getFirst();
            assertThatThrownBy(() -> gpu.graph().build()).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> gpu.graph().call(round.dispatches().getLast()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("another buffer");
            assertThatThrownBy(() -> gpu.graph()
                            .call(dispatch)
                            .call(combine)
                            .call(combine)
                            .build())
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("combined once");
            GpuExpertGraph alone = gpu.graph().call(combine).build();
            assertThatThrownBy(alone::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("no dispatch");
            // nothing of that has changed what may be started
            List<GpuExpertGraph> graphs = List.of(round.graph(pairs, 0), round.graph(pairs, 1));
            pairs.ranks.run(rank -> graphs.get(rank)::start);
            pairs.ranks.run(rank -> round.dispatches().get(rank)::startSend);
            assertThatThrownBy(graphs.getFirst()::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("second half");
            pairs.ranks.run(rank -> round.dispatches().get(rank)::startReceive);
            pairs.ranks.run(rank -> graphs.get(rank)::start);
            dispatch.close();
            assertThatThrownBy(graphs.getFirst()::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");
        }
    }

    /** What a call needs may be before it in the graph. */
    @Test
    void a_graph_of_normal_mode_starts_with_what_its_calls_need() {
        ExpertOptions options = OPTIONS.lowLatency(false).normalMode(true);
        try (GpuExpertRanks ranks = GpuExpertRanks.form(1, GpuExpertOptions.of(options))) {
            GpuExpertBuffer buffer = ranks.buffer(0);
            long rowBytes = 2L * OPTIONS.hidden();
            MemoryRegion choices = ranks.region(0, MOST_TOKENS * 2L * Long.BYTES);
            MemoryRegion weights = ranks.region(0, MOST_TOKENS * 2L * Float.BYTES);
            MemoryRegion x = ranks.region(0, MOST_TOKENS * rowBytes);
            MemoryRegion out = ranks.region(0, MOST_TOKENS * rowBytes);
            GpuExpertRanks.GpuBytes choiceBytes = ranks.bytes(0, choices);
            for (int i = 0; i < 2 * MOST_TOKENS; i++) {
                choiceBytes.host().setAtIndex(ValueLayout.JAVA_LONG, i, i % 4);
            }
            choiceBytes.put();
            ranks.bytes(0, x).fill(0x3f);
            GpuNormalMode mode = buffer.normalMode();
            GpuNormalLayout layout = mode.prepareLayout(choices, 0, MOST_TOKENS);
            GpuNormalDispatch dispatch =
                    mode.prepareDispatch(x, 0, choices, 0, weights, 0, layout, NormalOptions.defaults());
            GpuNormalCombine combine = mode.prepareCombine(dispatch.handle(), x, 0, null, 0, out, 0, null);
            GpuExpertGraph lacking = buffer.graph().call(dispatch).call(combine).build();
            assertThatThrownBy(lacking::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("layout");
            GpuExpertGraph whole =
                    buffer.graph().call(layout).call(dispatch).call(combine).build();
            assertThat(whole.kernels()).isEqualTo(3);
            ranks.run(rank -> whole::start);
            ranks.run(rank -> lacking::start);
            assertThat(dispatch.result().received()).isEqualTo(MOST_TOKENS);
            assertThat(ranks.bytes(0, out).get().mismatch(ranks.bytes(0, x).get()))
                    .isEqualTo(-1);
        }
    }

    /** Such as kernels of the experts. */
    @Test
    void works_of_the_stream_run_between_calls() {
        try (LowLatencyPairs pairs = pairs()) {
            Round round = Round.of(pairs);
            List<GpuExpertGraph> graphs = new ArrayList<>();
            List<Runnable> open = new ArrayList<>();
            try {
                for (int i = 0; i < 2; i++) {
                    GpuExpertBuffer buffer = pairs.ranks.buffer(i);
                    GpuModule module = GpuModule.load(
                            buffer.stream().device(), CudaKernels.ptx().getBytes(US_ASCII));
                    open.add(module::close);
                    MappedRegion y = MappedRegion.of(pairs.rank(i).y);
                    open.add(y::close);
                    GpuWork fill = buffer.stream()
                            .work()
                            .launch(
                                    module.kernel("sluice_fill_pattern"),
                                    LaunchShape.of(2, 64),
                                    KernelArguments.ofLongs(
                                            y.address(), pairs.rank(i).y.length(), 5))
                            .uses(y)
                            .build();
                    graphs.add(buffer.graph()
                            .call(round.dispatches().get(i))
                            .work(fill)
                            .call(round.combines().get(i))
                            .build());
                    pairs.rank(i).yBytes.fill(0);
                }
                pairs.ranks.run(rank -> graphs.get(rank)::start);
                byte[] sums = pairs.rank(0).outBytes.get().toArray(ValueLayout.JAVA_BYTE);
                MemorySegment y = pairs.rank(0).yBytes.get();
                for (int i = 0; i < 64; i++) {
                    // the kernel's, of 64 bits
                    assertThat(y.get(ValueLayout.JAVA_BYTE, i))
                            .isEqualTo((byte) ((5L + i) * 0x9e3779b97f4a7c15L >>> 56));
                }
                assertThat(sums).isNotEqualTo(new byte[sums.length]);
            } finally {
                open.forEach(Runnable::run);
            }
        }
    }

    /** Two dispatches in one graph write both sets: a first half that waits for its second would be overwritten. */
    @Test
    void a_graph_does_not_overtake_a_second_half() {
        try (LowLatencyPairs pairs = pairs()) {
            Round waiting = Round.of(pairs);
            Round round = Round.of(pairs);
            List<GpuExpertGraph> ones = new ArrayList<>();
            List<GpuExpertGraph> twos = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                GpuDispatch dispatch = round.dispatches().get(i);
                GpuExpertBuffer buffer = pairs.ranks.buffer(i);
                ones.add(buffer.graph().call(dispatch).build());
                twos.add(buffer.graph().call(dispatch).call(dispatch).build());
            }
            pairs.ranks.run(rank -> waiting.dispatches().get(rank)::startSend);
            assertOvertakes(twos.getFirst());
            pairs.ranks.run(rank -> ones.get(rank)::start);
            // what a graph has started counts
            assertOvertakes(ones.getFirst());
            pairs.ranks.run(rank -> waiting.dispatches().get(rank)::startReceive);
            pairs.ranks.run(rank -> twos.get(rank)::start);
        }
    }

    private static void assertOvertakes(GpuExpertGraph graph) {
        assertThatThrownBy(graph::start)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("waits for its second half");
    }

    @Test
    void it_is_given_back_once_what_was_started_has_ended() {
        try (LowLatencyPairs pairs = pairs()) {
            Round round = Round.of(pairs);
            List<GpuExpertGraph> graphs = List.of(round.graph(pairs, 0), round.graph(pairs, 1));
            CompletableFuture<?> end = pairs.ranks.start(0, graphs.getFirst()::start);
            CompletableFuture<Void> closing = graphs.getFirst().closeAsync();
            assertThatThrownBy(graphs.getFirst()::start).isInstanceOf(GpuClosedException.class);
            assertThat(closing).isNotDone();
            Patience.await(pairs.ranks.start(1, graphs.getLast()::start));
            Patience.await(end);
            Patience.await(closing);
            // calls are as they were, and the buffer closes what was not closed
            pairs.ranks.run(rank -> rank == 0 ? () -> round.start(0) : graphs.getLast()::start);
            Patience.await(pairs.ranks.buffer(1).closeAsync());
            assertThatThrownBy(graphs.getLast()::start).isInstanceOf(SluiceException.class);
        }
    }

    @Test
    void a_rank_that_is_lost_ends_a_replay_of_the_others() {
        try (LowLatencyPairs pairs = pairs()) {
            Round round = Round.of(pairs);
            List<GpuExpertGraph> graphs = List.of(round.graph(pairs, 0), round.graph(pairs, 1));
            pairs.ranks.run(rank -> graphs.get(rank)::start);
            CompletableFuture<?> end = pairs.ranks.start(0, graphs.getFirst()::start);
            Patience.await(pairs.ranks.engine(1).closeAsync());
            Patience.failure(end, ExpertsLostException.class);
            assertThatThrownBy(graphs.getFirst()::start).isInstanceOf(ExpertsLostException.class);
        }
    }
}
