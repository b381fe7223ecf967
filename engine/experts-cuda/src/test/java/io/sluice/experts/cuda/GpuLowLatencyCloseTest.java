package io.sluice.experts.cuda;

import static io.sluice.experts.cuda.GpuExpertRanks.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.collectives.TeamRevokedException;
import io.sluice.cuda.GpuClosedException;
import io.sluice.cuda.GpuStream;
import io.sluice.cuda.GpuWork;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.TransferPriority;
import io.sluice.experts.CombineOptions;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertBufferClosedException;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.LowLatencyResult;
import io.sluice.experts.ReceiveHook;
import io.sluice.experts.TooManyLiveResultsException;
import io.sluice.experts.cuda.LowLatencyPairs.Choice;
import io.sluice.experts.cuda.LowLatencyPairs.Form;
import io.sluice.experts.cuda.LowLatencyPairs.Rank;
import io.sluice.testkit.Patience;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is closed between the halves of a call stays until the second one; what was given back is not given back again. */
class GpuLowLatencyCloseTest {
    private static final int MOST_TOKENS = 4;
    private static final ExpertOptions OPTIONS = ExpertOptions.experts(4)
            .hidden(128)
            .maxTokensPerRank(MOST_TOKENS)
            .topK(2)
            .timeout(Patience.BOUND);

    private static LowLatencyPairs pairs(int size) {
        LowLatencyPairs pairs = new LowLatencyPairs(size, OPTIONS);
        int[] tokens = new int[size];
        for (int rank = 0; rank < size; rank++) {
            tokens[rank] = MOST_TOKENS - rank;
        }
        pairs.draw(tokens, Choice.RANDOM, 11);
        return pairs;
    }

    private static List<GpuDispatch> dispatches(LowLatencyPairs pairs) {
        List<GpuDispatch> made = new ArrayList<>();
        for (int rank = 0; rank < pairs.ranks.size(); rank++) {
            made.add(pairs.rank(rank).dispatch(DispatchFormat.BF16));
        }
        return made;
    }

    private static GpuCombine combine(Rank rank, LowLatencyResult of, MemoryRegion[] last) {
        return rank.gpu().prepareCombine(of, last[0], 0, last[1], 0, last[2], 0, last[3], 0, CombineOptions.defaults());
    }

    /** Copies of what a combine uses: results of experts, choices, weights and sums. */
    private static MemoryRegion[] copies(LowLatencyPairs pairs, Rank rank) {
        MemoryRegion[] copies = new MemoryRegion[4];
        MemoryRegion[] of = {rank.y, rank.choices, rank.weights, rank.out};
        GpuExpertRanks.GpuBytes[] bytes = {rank.yBytes, rank.choiceBytes, rank.weightBytes, rank.outBytes};
        for (int i = 0; i < of.length; i++) {
            copies[i] = pairs.ranks.region(rank.rank, of[i].length());
            GpuExpertRanks.GpuBytes copy = pairs.ranks.bytes(rank.rank, copies[i]);
            copy.host().copyFrom(bytes[i].host());
            copy.put();
        }
        return copies;
    }

    // ---- between the halves ----

    @Test
    void a_dispatch_that_is_closed_after_its_first_half_is_received() {
        try (LowLatencyPairs pairs = pairs(2)) {
            List<GpuDispatch> first = dispatches(pairs);
            pairs.ranks.run(rank -> first.get(rank)::startSend);
            first.getFirst().close();
            pairs.ranks.run(rank -> first.get(rank)::startReceive);
            assertThatThrownBy(first.getFirst()::start).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(first.getFirst()::startReceive).isInstanceOf(IllegalStateException.class);
            first.get(1).close();
            for (Form form : Form.values()) {
                pairs.check("after it, " + form, DispatchFormat.BF16, form);
            }
        }
    }

    @Test
    void regions_that_are_closed_after_the_first_half_of_a_dispatch_stay_if_the_second_uses_them() {
        try (LowLatencyPairs pairs = pairs(2)) {
            Rank rank = pairs.rank(0);
            MemoryRegion x = pairs.ranks.region(0, rank.x.length());
            MemoryRegion choices = copies(pairs, rank)[1];
            MemoryRegion statistics = pairs.ranks.region(0, 2 * Integer.BYTES);
            GpuDispatch dispatch = rank.gpu()
                    .prepareDispatch(
                            x,
                            0,
                            choices,
                            0,
                            rank.tokens,
                            DispatchOptions.defaults().withStatistics(statistics, 0));
            GpuDispatch other = pairs.rank(1).dispatch(DispatchFormat.BF16);
            pairs.ranks.run(each -> each == 0 ? dispatch::startSend : other::startSend);
            Patience.await(x.close());
            Patience.await(choices.close());
            CompletableFuture<Void> closing = statistics.close();
            assertThat(closing).isNotDone();
            pairs.ranks.run(each -> each == 0 ? dispatch::startReceive : other::startReceive);
            Patience.await(closing);
            assertThatThrownBy(dispatch::start).isInstanceOf(GpuClosedException.class);
            dispatch.close();
            other.close();
            pairs.check("after it", DispatchFormat.BF16, Form.HALVES);
        }
    }

    /** The combine, its sums, the choices or the weights. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3})
    void what_is_closed_after_the_first_half_of_a_combine_stays_for_the_second(int what) {
        try (LowLatencyPairs pairs = pairs(2)) {
            List<GpuDispatch> dispatches = dispatches(pairs);
            pairs.ranks.run(rank -> dispatches.get(rank)::start);
            MemoryRegion[] copies = copies(pairs, pairs.rank(0));
            GpuCombine combine = combine(pairs.rank(0), dispatches.getFirst().result(), copies);
            GpuCombine other = pairs.rank(1).combine(dispatches.get(1).result(), pairs.rank(1).y);
            pairs.ranks.run(rank -> rank == 0 ? combine::startSend : other::startSend);
            Patience.await(copies[0].close());
            CompletableFuture<Void> closing = what == 0 ? new CompletableFuture<>() : copies[what].close();
            if (what == 0) {
                combine.close();
            }
            assertThat(closing).isNotDone();
            pairs.ranks.run(rank -> rank == 0 ? combine::startReceive : other::startReceive);
            if (what == 0) {
                for (int i = 1; i < copies.length; i++) {
                    Patience.await(copies[i].close());
                }
            } else {
                Patience.await(closing);
            }
            dispatches.forEach(GpuDispatch::close);
            pairs.check("after it", DispatchFormat.BF16, Form.HALVES);
        }
    }

    @Test
    void hooks_are_completed_though_regions_are_closed() {
        try (LowLatencyPairs pairs = pairs(1)) {
            Rank rank = pairs.rank(0);
            MemoryRegion x = pairs.ranks.region(0, rank.x.length());
            ReceiveHook<LowLatencyResult> hook = Patience.await(pairs.future(callback -> rank.gpu()
                    .lowLatencyDispatchHooked(
                            x, 0, rank.choices, 0, rank.tokens, DispatchOptions.defaults(), callback)));
            Patience.await(x.close());
            LowLatencyResult result = Patience.await(pairs.future(hook::complete));
            MemoryRegion[] copies = copies(pairs, rank);
            ReceiveHook<MemoryRegion> last = Patience.await(pairs.future(callback -> rank.gpu()
                    .lowLatencyCombineHooked(
                            result,
                            copies[0],
                            0,
                            copies[1],
                            0,
                            copies[2],
                            0,
                            copies[3],
                            0,
                            CombineOptions.defaults(),
                            callback)));
            CompletableFuture<Void> closing = copies[3].close();
            result.close();
            assertThat(closing).isNotDone();
            Patience.await(pairs.future(last::complete));
            Patience.await(closing);
            pairs.check("after it", DispatchFormat.BF16, Form.HOOK);
        }
    }

    /** Else they would stay for ever. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void regions_do_not_stay_for_a_second_half_that_cannot_come(boolean isClosedFirst) {
        try (LowLatencyPairs pairs = pairs(2)) {
            List<GpuDispatch> dispatches = dispatches(pairs);
            pairs.ranks.run(rank -> dispatches.get(rank)::start);
            MemoryRegion[] copies = copies(pairs, pairs.rank(0));
            GpuCombine combine = combine(pairs.rank(0), dispatches.getFirst().result(), copies);
            Patience.await(pairs.ranks.start(0, combine::startSend));
            CompletableFuture<Void> closing = isClosedFirst ? copies[3].close() : new CompletableFuture<>();
            Patience.await(pairs.ranks.team(1).revoke());
            Patience.until("rank 0 knows", () -> {
                try {
                    combine.startSend();
                    return false;
                } catch (TeamRevokedException expected) {
                    return true;
                } catch (IllegalStateException stillGood) {
                    return false;
                }
            });
            Patience.await(isClosedFirst ? closing : copies[3].close());
            assertThatThrownBy(combine::startReceive).isInstanceOf(TeamRevokedException.class);
        }
    }

    @Test
    void regions_do_not_stay_for_a_second_half_of_a_closed_buffer() {
        try (LowLatencyPairs pairs = pairs(1)) {
            GpuDispatch dispatch = dispatches(pairs).getFirst();
            pairs.ranks.run(rank -> dispatch::start);
            MemoryRegion[] copies = copies(pairs, pairs.rank(0));
            GpuCombine combine = combine(pairs.rank(0), dispatch.result(), copies);
            pairs.ranks.run(rank -> combine::startSend);
            CompletableFuture<Void> closing = copies[3].close();
            assertThat(closing).isNotDone();
            Patience.await(pairs.ranks.buffer(0).closeAsync());
            Patience.await(closing);
            assertThatThrownBy(combine::startReceive).isInstanceOf(ExpertBufferClosedException.class);
        }
    }

    /** Either no half is started, or both are. */
    @Test
    void a_region_that_is_closed_at_any_time_leaves_no_half_alone() {
        try (LowLatencyPairs pairs = pairs(1)) {
            Rank rank = pairs.rank(0);
            GpuDispatch dispatch = rank.dispatch(DispatchFormat.BF16);
            for (int round = 0; round < 100; round++) {
                pairs.ranks.run(each -> dispatch::start);
                MemoryRegion out = pairs.ranks.region(0, rank.out.length());
                MemoryRegion[] last = {rank.y, rank.choices, rank.weights, out};
                GpuCombine combine = combine(rank, dispatch.result(), last);
                int spins = round * 20;
                CompletableFuture<Void> closing = CompletableFuture.supplyAsync(() -> {
                            for (int i = 0; i < spins; i++) {
                                Thread.onSpinWait();
                            }
                            return out.close();
                        })
                        .thenCompose(closed -> closed);
                try {
                    combine.startSend();
                    combine.startReceive();
                } catch (GpuClosedException e) {
                    assertThatThrownBy(combine::startReceive).isInstanceOf(IllegalStateException.class);
                }
                Patience.await(closing);
                combine.close();
            }
            Patience.await(rank.y.close());
        }
    }

    // ---- refused ----

    @Test
    void a_hook_that_was_refused_is_completed_later() {
        try (GpuExpertRanks ranks = GpuExpertRanks.form(
                1, GpuExpertOptions.of(OPTIONS.normalMode(true)).withBlocks(4))) {
            MemoryRegion x = ranks.region(0, MOST_TOKENS * 256L);
            MemoryRegion choices = ranks.region(0, MOST_TOKENS * 2L * Long.BYTES);
            ranks.bytes(0, choices).fill(-1);
            GpuNormalLayout layout = ranks.buffer(0).normalMode().prepareLayout(choices, 0, MOST_TOKENS);
            GpuLowLatency calls = ranks.buffer(0).lowLatency();
            CompletableFuture<ReceiveHook<LowLatencyResult>> sent = new CompletableFuture<>();
            calls.lowLatencyDispatchHooked(
                    x, 0, choices, 0, MOST_TOKENS, DispatchOptions.defaults(), (hook, error) -> end(sent, hook, error));
            ReceiveHook<LowLatencyResult> hook = Patience.await(sent);
            CompletableFuture<LowLatencyResult> received = new CompletableFuture<>();
            try (SoftGpuHang hang = new SoftGpuHang()) {
                for (int i = 0; i < GpuWork.MOST_LAUNCHES; i++) {
                    layout.start();
                }
                assertThatThrownBy(() -> hook.complete((result, error) -> end(received, result, error)))
                        .isInstanceOf(TooManyPendingException.class);
                assertThat(received).isNotDone();
            }
            Patience.until("there is room", () -> {
                try {
                    hook.complete((result, error) -> end(received, result, error));
                    return true;
                } catch (TooManyPendingException stillFull) {
                    return false;
                }
            });
            Patience.await(received).close();
            assertThatThrownBy(() -> hook.complete((result, error) -> {})).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void a_hook_of_a_buffer_that_has_failed_ends_with_its_error() {
        try (LowLatencyPairs pairs = pairs(1)) {
            Rank rank = pairs.rank(0);
            ReceiveHook<LowLatencyResult> hook = Patience.await(pairs.future(callback -> rank.gpu()
                    .lowLatencyDispatchHooked(
                            rank.x, 0, rank.choices, 0, rank.tokens, DispatchOptions.defaults(), callback)));
            Patience.await(pairs.ranks.team(0).revoke());
            Patience.until("the buffer knows", () -> {
                try {
                    rank.dispatch(DispatchFormat.BF16).close();
                    return false;
                } catch (TeamRevokedException expected) {
                    return true;
                }
            });
            assertThat(failure(pairs.future(hook::complete))).isInstanceOf(TeamRevokedException.class);
            assertThatThrownBy(() -> hook.complete((result, error) -> {})).isInstanceOf(IllegalStateException.class);
        }
    }

    private static <T> void end(CompletableFuture<T> end, @Nullable T result, @Nullable SluiceException error) {
        if (error == null) {
            end.complete(result);
        } else {
            end.completeExceptionally(error);
        }
    }

    /** Closed between the halves, and refused at first, it keeps what it has until it was started. */
    @Test
    void a_second_half_that_was_refused_after_a_close_is_started_later() {
        try (GpuExpertRanks ranks = GpuExpertRanks.form(
                1, GpuExpertOptions.of(OPTIONS.normalMode(true)).withBlocks(4))) {
            MemoryRegion x = ranks.region(0, MOST_TOKENS * 256L);
            MemoryRegion choices = ranks.region(0, MOST_TOKENS * 2L * Long.BYTES);
            ranks.bytes(0, choices).fill(-1);
            GpuNormalLayout layout = ranks.buffer(0).normalMode().prepareLayout(choices, 0, MOST_TOKENS);
            GpuLowLatency calls = ranks.buffer(0).lowLatency();
            DispatchOptions options = DispatchOptions.defaults();
            GpuDispatch dispatch = calls.prepareDispatch(x, 0, choices, 0, MOST_TOKENS, options);
            ranks.run(rank -> dispatch::startSend);
            dispatch.close();
            GpuDispatch other = calls.prepareDispatch(x, 0, choices, 0, MOST_TOKENS, options);
            try (SoftGpuHang hang = new SoftGpuHang()) {
                for (int i = 0; i < GpuWork.MOST_LAUNCHES; i++) {
                    layout.start();
                }
                assertThatThrownBy(dispatch::startReceive).isInstanceOf(TooManyPendingException.class);
                assertThatThrownBy(() -> calls.prepareDispatch(x, 0, choices, 0, MOST_TOKENS, options))
                        .isInstanceOf(TooManyLiveResultsException.class);
            }
            Patience.until("there is room", () -> {
                try {
                    dispatch.startReceive();
                    return true;
                } catch (TooManyPendingException stillFull) {
                    return false;
                }
            });
            ranks.run(rank -> other::start);
            calls.prepareDispatch(x, 0, choices, 0, MOST_TOKENS, options).close();
        }
    }

    /** The others do not wait for what cannot come. */
    @Test
    void a_second_half_that_has_no_stream_ends_the_buffers_of_all_ranks() {
        try (GpuExpertRanks ranks = GpuExpertRanks.unformed(2)) {
            GpuExpertOptions options =
                    GpuExpertOptions.of(OPTIONS.normalMode(false)).withBlocks(4);
            List<GpuStream> streams = new ArrayList<>();
            List<CompletableFuture<GpuExpertBuffer>> forming = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                streams.add(GpuStream.create(ranks.device(rank), TransferPriority.HIGH));
                forming.add(GpuExpertBuffer.create(ranks.team(rank), streams.get(rank), options));
            }
            List<GpuExpertBuffer> buffers =
                    forming.stream().map(Patience::await).toList();
            List<GpuDispatch> dispatches = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                MemoryRegion x = ranks.region(rank, 256);
                MemoryRegion choices = ranks.region(rank, 2L * Long.BYTES);
                ranks.bytes(rank, choices).fill(-1);
                dispatches.add(buffers.get(rank)
                        .lowLatency()
                        .prepareDispatch(x, 0, choices, 0, 1, DispatchOptions.defaults()));
                dispatches.get(rank).startSend();
            }
            Patience.await(waiting(buffers.get(1), dispatches.get(1)::startReceive));
            streams.getFirst().close();
            assertThatThrownBy(dispatches.getFirst()::startReceive).isInstanceOf(GpuClosedException.class);
            // the other rank may know before it starts
            assertThat(failure(waiting(buffers.get(1), dispatches.get(1)::start)))
                    .isInstanceOf(TeamRevokedException.class);
            buffers.forEach(buffer -> Patience.await(buffer.closeAsync()));
            streams.forEach(GpuStream::close);
        }
    }

    private static CompletableFuture<@Nullable Void> waiting(GpuExpertBuffer buffer, LongSupplier call) {
        CompletableFuture<@Nullable Void> end = new CompletableFuture<>();
        try {
            long number = call.getAsLong();
            buffer.onReached((armed, value, error) -> {
                        end(end, null, error);
                        armed.close();
                    })
                    .arm(number);
        } catch (SluiceException refused) {
            end.completeExceptionally(refused);
        }
        return end;
    }

    // ---- closed again ----

    @Test
    void a_second_close_gives_nothing_back() {
        try (LowLatencyPairs pairs = pairs(1)) {
            Rank rank = pairs.rank(0);
            GpuDispatch first = rank.dispatch(DispatchFormat.BF16);
            LowLatencyResult old = first.result();
            first.close();
            GpuDispatch second = rank.dispatch(DispatchFormat.BF16);
            first.close();
            old.close();
            GpuDispatch third = rank.dispatch(DispatchFormat.BF16);
            assertThatThrownBy(() -> rank.dispatch(DispatchFormat.BF16))
                    .isInstanceOf(TooManyLiveResultsException.class);
            pairs.ranks.run(each -> second::start);
            third.close();
            pairs.ranks.run(each -> rank.combine(second.result(), rank.y)::start);
        }
    }

    @Test
    void calls_with_a_result_that_is_another_ones_by_now_are_refused() {
        try (LowLatencyPairs pairs = pairs(1)) {
            Rank rank = pairs.rank(0);
            GpuDispatch first = rank.dispatch(DispatchFormat.BF16);
            GpuCombine combine = rank.combine(first.result(), rank.y);
            LowLatencyResult old = first.result();
            // the dispatch is open, and its regions are
            old.close();
            GpuDispatch second = rank.dispatch(DispatchFormat.FP8);
            assertThatThrownBy(first::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");
            assertThatThrownBy(first::startSend).isInstanceOf(IllegalStateException.class);
            pairs.ranks.run(each -> second::start);
            assertThatThrownBy(combine::start)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");
            assertThatThrownBy(() -> rank.combine(old, rank.y)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(old::combineBuffer).isInstanceOf(IllegalStateException.class);
            assertThat(old.format()).isEqualTo(DispatchFormat.BF16);
            pairs.ranks.run(each -> rank.combine(second.result(), rank.y)::start);
            second.close();
            first.close();
            pairs.check("after it", DispatchFormat.BF16, Form.HALVES);
        }
    }

    @Test
    void memory_for_results_of_experts_is_not_taken_from_a_closed_buffer() {
        try (LowLatencyPairs pairs = pairs(1)) {
            GpuDispatch dispatch = pairs.rank(0).dispatch(DispatchFormat.BF16);
            Patience.await(pairs.ranks.buffer(0).closeAsync());
            assertThatThrownBy(dispatch.result()::combineBuffer).isInstanceOf(ExpertBufferClosedException.class);
        }
    }
}
