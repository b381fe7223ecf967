package io.sluice.experts.cuda;

import static io.sluice.experts.cuda.GpuExpertRanks.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.collectives.TeamRevokedException;
import io.sluice.cuda.GpuStream;
import io.sluice.engine.SluiceException;
import io.sluice.experts.CombineFormat;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.ExpertBufferClosedException;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.ExpertsLostException;
import io.sluice.experts.LowLatencyResult;
import io.sluice.experts.cuda.LowLatencyPairs.Choice;
import io.sluice.experts.cuda.LowLatencyPairs.Rank;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ranks that do not come, leave, call something else or name no expert end the calls of all with a typed error. */
class GpuLowLatencyFailureTest {
    private static final Duration SOON = Duration.ofMillis(300);
    private static final ExpertOptions OPTIONS =
            ExpertOptions.experts(4).hidden(128).maxTokensPerRank(4).topK(2).timeout(Patience.BOUND);

    private static LowLatencyPairs pairs(ExpertOptions options) {
        LowLatencyPairs pairs = new LowLatencyPairs(2, options);
        pairs.draw(new int[] {4, 3}, Choice.RANDOM, 3);
        return pairs;
    }

    private static void assertThatNothingStarts(LowLatencyPairs pairs, int rank) {
        assertThatThrownBy(() -> pairs.rank(rank).dispatch(DispatchFormat.BF16)).isInstanceOf(SluiceException.class);
    }

    @Test
    void a_rank_that_does_not_come_is_named_when_the_time_is_over() {
        try (LowLatencyPairs pairs = pairs(OPTIONS.timeout(SOON))) {
            assertThat(failure(pairs.dispatch(0, DispatchFormat.BF16)))
                    .isInstanceOf(CollectiveTimeoutException.class)
                    .hasMessageContaining("rank 1");
            assertThatNothingStarts(pairs, 0);
            Patience.until("the other rank knows", () -> {
                try {
                    pairs.rank(1).dispatch(DispatchFormat.BF16).close();
                    return false;
                } catch (TeamRevokedException expected) {
                    return true;
                }
            });
        }
    }

    /** Those of the dispatch before are still there. */
    @Test
    void a_dispatch_that_has_failed_has_no_numbers() {
        try (LowLatencyPairs pairs = pairs(OPTIONS.timeout(Patience.scaled(SOON)))) {
            List<GpuDispatch> dispatches = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                dispatches.add(pairs.rank(rank).dispatch(DispatchFormat.BF16));
            }
            pairs.ranks.run(rank -> dispatches.get(rank)::start);
            LowLatencyResult result = dispatches.get(0).result();
            assertThat(result.count(0)).isNotNegative();
            long number = dispatches.get(0).start();
            GpuStream stream = pairs.ranks.buffer(0).stream();
            Patience.until("the dispatch has ended", () -> stream.reached() >= number);
            assertThatThrownBy(() -> result.count(0)).isInstanceOf(CollectiveTimeoutException.class);
        }
    }

    @Test
    void a_rank_whose_engine_ends_is_lost_with_its_experts() {
        try (LowLatencyPairs pairs = pairs(OPTIONS)) {
            CompletableFuture<LowLatencyResult> end = pairs.dispatch(0, DispatchFormat.FP8);
            Patience.await(pairs.ranks.engine(1).closeAsync());
            assertThat(failure(end)).isInstanceOfSatisfying(ExpertsLostException.class, error -> {
                assertThat(error.ranks()).containsExactly(1);
                assertThat(error.experts()).containsExactly(2, 3);
            });
            assertThatNothingStarts(pairs, 0);
        }
    }

    @Test
    void a_rank_that_closes_its_buffer_is_lost_but_what_it_had_sent_arrives() {
        try (LowLatencyPairs pairs = pairs(OPTIONS)) {
            List<GpuDispatch> sent = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                sent.add(pairs.rank(rank).dispatch(DispatchFormat.BF16));
            }
            pairs.ranks.run(rank -> sent.get(rank)::startSend);
            // rank 0 has its half still to come
            pairs.ranks.start(1, sent.get(1)::startReceive).join();
            CompletableFuture<Void> closing = pairs.ranks.buffer(1).closeAsync();
            CompletableFuture<?> received = pairs.ranks.start(0, sent.get(0)::startReceive);
            @Nullable
            Throwable error = received.handle((nothing, thrown) -> thrown).join();
            if (error != null) {
                // its window may be gone by then
                assertThat(failure(received)).isInstanceOf(ExpertsLostException.class);
            }
            assertThat(failure(pairs.dispatch(0, DispatchFormat.BF16)))
                    .isInstanceOfSatisfying(
                            ExpertsLostException.class,
                            lost -> assertThat(lost.ranks()).containsExactly(1));
            assertThatThrownBy(() -> pairs.rank(1).dispatch(DispatchFormat.BF16))
                    .isInstanceOf(ExpertBufferClosedException.class);
            Patience.await(closing);
        }
    }

    @Test
    void a_call_that_waits_ends_when_its_buffer_is_closed() {
        try (LowLatencyPairs pairs = pairs(OPTIONS)) {
            CompletableFuture<LowLatencyResult> end = pairs.dispatch(0, DispatchFormat.BF16);
            CompletableFuture<Void> closing = pairs.ranks.buffer(0).closeAsync();
            assertThat(failure(end)).isInstanceOf(ExpertBufferClosedException.class);
            // what rank 0 had sent has arrived, but nothing more comes
            CompletableFuture<LowLatencyResult> first = pairs.dispatch(1, DispatchFormat.BF16);
            assertThat(first.handle((result, error) -> error == null || error instanceof ExpertsLostException)
                            .orTimeout(Patience.BOUND.toMillis(), TimeUnit.MILLISECONDS)
                            .join())
                    .isTrue();
            assertThat(failure(pairs.dispatch(1, DispatchFormat.BF16))).isInstanceOf(ExpertsLostException.class);
            Patience.await(closing);
        }
    }

    @Test
    void ranks_with_different_formats_get_an_error() {
        try (LowLatencyPairs pairs = pairs(OPTIONS)) {
            List<CompletableFuture<LowLatencyResult>> ends =
                    List.of(pairs.dispatch(0, DispatchFormat.BF16), pairs.dispatch(1, DispatchFormat.FP8));
            ends.forEach(end -> assertThat(failure(end))
                    .isInstanceOfAny(CollectiveMismatchException.class, TeamRevokedException.class));
            assertThat(ends.stream().anyMatch(end -> failure(end) instanceof CollectiveMismatchException))
                    .isTrue();
        }
    }

    @Test
    void ranks_that_combine_different_dispatches_get_an_error() {
        try (LowLatencyPairs pairs = pairs(OPTIONS)) {
            List<GpuCombine> combines = new ArrayList<>();
            List<List<GpuDispatch>> dispatches = List.of(new ArrayList<>(), new ArrayList<>());
            for (List<GpuDispatch> each : dispatches) {
                for (int rank = 0; rank < 2; rank++) {
                    each.add(pairs.rank(rank).dispatch(DispatchFormat.BF16));
                }
                pairs.ranks.run(rank -> each.get(rank)::start);
            }
            for (int i = 0; i < 2; i++) {
                Rank rank = pairs.rank(i);
                rank.yBytes.fill(0);
                combines.add(rank.combine(dispatches.get(i).get(i).result(), rank.y));
            }
            List<CompletableFuture<@Nullable Void>> ends = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                ends.add(pairs.ranks.start(rank, combines.get(rank)::start));
            }
            ends.forEach(end -> assertThat(failure(end))
                    .isInstanceOfAny(CollectiveMismatchException.class, TeamRevokedException.class));
        }
    }

    @Test
    void ranks_that_combine_in_different_formats_get_an_error() {
        try (LowLatencyPairs pairs = pairs(OPTIONS)) {
            List<GpuDispatch> dispatches = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                dispatches.add(pairs.rank(rank).dispatch(DispatchFormat.BF16));
                pairs.rank(rank).yBytes.fill(0);
            }
            pairs.ranks.run(rank -> dispatches.get(rank)::start);
            List<GpuCombine> combines = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                Rank on = pairs.rank(rank);
                combines.add(on.combine(dispatches.get(rank).result(), on.y, CombineFormat.values()[rank]));
            }
            List<CompletableFuture<@Nullable Void>> ends = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                ends.add(pairs.ranks.start(rank, combines.get(rank)::start));
            }
            ends.forEach(end -> assertThat(failure(end))
                    .isInstanceOfAny(CollectiveMismatchException.class, TeamRevokedException.class));
            assertThat(ends.stream().anyMatch(end -> failure(end) instanceof CollectiveMismatchException))
                    .isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {4, -2, Long.MAX_VALUE, 1L << 32})
    void an_expert_that_is_not_there_is_named(long expert) {
        try (LowLatencyPairs pairs = pairs(OPTIONS)) {
            choose(pairs.rank(0), 5, expert);
            assertThat(failure(pairs.dispatch(0, DispatchFormat.BF16)))
                    .isInstanceOf(InvalidChoiceException.class)
                    .hasMessageContaining("token 2")
                    .hasMessageContaining("expert " + expert);
            assertThat(failure(pairs.dispatch(1, DispatchFormat.BF16))).isInstanceOf(TeamRevokedException.class);
        }
    }

    private static void choose(Rank rank, int slot, long expert) {
        rank.choiceBytes.host().setAtIndex(ValueLayout.JAVA_LONG, slot, expert);
        rank.choiceBytes.put();
    }

    /** So no expert gets more tokens of a rank than there may be. */
    @Test
    void an_expert_that_is_named_twice_is_an_error_also_of_the_combine() {
        try (LowLatencyPairs pairs = pairs(OPTIONS)) {
            Rank rank = pairs.rank(0);
            choose(rank, 2, 1);
            choose(rank, 3, 1);
            GpuDispatch dispatch = rank.dispatch(DispatchFormat.BF16);
            GpuCombine combine = rank.combine(dispatch.result(), rank.y);
            assertThat(failure(pairs.ranks.start(0, dispatch::start)))
                    .isInstanceOf(InvalidChoiceException.class)
                    .hasMessageContaining("token 1")
                    .hasMessageContaining("expert 1 twice");
            assertThatThrownBy(combine::start).isInstanceOf(InvalidChoiceException.class);
        }
    }

    @Test
    void an_expert_to_which_a_token_was_not_dispatched_is_not_combined() {
        try (LowLatencyPairs pairs = pairs(OPTIONS)) {
            choose(pairs.rank(0), 0, -1);
            List<GpuDispatch> dispatches = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                dispatches.add(pairs.rank(rank).dispatch(DispatchFormat.BF16));
            }
            pairs.ranks.run(rank -> dispatches.get(rank)::start);
            choose(pairs.rank(0), 0, 3);
            List<CompletableFuture<@Nullable Void>> ends = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                Rank rank = pairs.rank(i);
                ends.add(pairs.ranks.start(i, rank.combine(dispatches.get(i).result(), rank.y)::start));
            }
            assertThat(failure(ends.getFirst()))
                    .isInstanceOf(InvalidChoiceException.class)
                    .hasMessageContaining("token 0 of rank 0")
                    .hasMessageContaining("not dispatched");
        }
    }

    @Test
    void a_revoked_team_ends_kernels_that_wait() {
        try (LowLatencyPairs pairs = pairs(OPTIONS)) {
            CompletableFuture<LowLatencyResult> end = pairs.dispatch(0, DispatchFormat.BF16);
            Patience.await(pairs.ranks.team(1).revoke());
            assertThat(failure(end)).isInstanceOf(TeamRevokedException.class);
        }
    }
}
