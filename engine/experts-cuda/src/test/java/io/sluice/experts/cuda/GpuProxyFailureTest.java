package io.sluice.experts.cuda;

import static io.sluice.experts.cuda.GpuExpertRanks.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.collectives.TeamRevokedException;
import io.sluice.engine.MemoryNotAccessibleException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.experts.DispatchFormat;
import io.sluice.experts.DispatchOptions;
import io.sluice.experts.ExpertOptions;
import io.sluice.experts.ExpertsLostException;
import io.sluice.experts.LowLatencyResult;
import io.sluice.experts.cuda.LowLatencyPairs.Choice;
import io.sluice.experts.cuda.LowLatencyPairs.Form;
import io.sluice.experts.cuda.LowLatencyPairs.Rank;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Ranks that the host carries to learn of failures, as those do whose memory GPUs reach. */
class GpuProxyFailureTest {
    private static final ExpertOptions OPTIONS =
            ExpertOptions.experts(6).hidden(128).maxTokensPerRank(4).topK(2).timeout(Patience.BOUND);

    private static LowLatencyPairs pairs(String islands) {
        LowLatencyPairs pairs = new LowLatencyPairs(new Islands(islands), OPTIONS);
        int[] tokens = new int[islands.length()];
        for (int rank = 0; rank < tokens.length; rank++) {
            tokens[rank] = 4 - rank;
        }
        pairs.draw(tokens, Choice.RANDOM, 3);
        return pairs;
    }

    @Test
    void normal_mode_is_refused_on_all_ranks_and_the_team_is_as_good_as_before() {
        try (GpuExpertRanks ranks = GpuExpertRanks.unformed(new Islands("aa."))) {
            GpuExpertOptions options = GpuExpertOptions.of(OPTIONS);
            List<CompletableFuture<GpuExpertBuffer>> forming = ranks.create(rank -> options);
            forming.forEach(each -> assertThat(failure(each)).isInstanceOf(MemoryNotAccessibleException.class));
            assertThat(failure(forming.getFirst())).hasMessageContaining("normalMode(false)");
            GpuExpertOptions lowLatency = GpuExpertOptions.of(OPTIONS.normalMode(false));
            ranks.create(rank -> lowLatency)
                    .forEach(each -> Patience.await(Patience.await(each).closeAsync()));
        }
    }

    /** Ranks 0 and 1 reach each other; rank 2 is reached by the host. */
    @Test
    void a_rank_that_leaves_is_known_to_all_and_what_it_had_sent_arrives() {
        try (LowLatencyPairs pairs = pairs("aa.")) {
            List<GpuDispatch> sent = new ArrayList<>();
            for (int rank = 0; rank < 3; rank++) {
                sent.add(pairs.rank(rank).dispatch(DispatchFormat.BF16));
            }
            pairs.ranks.run(rank -> sent.get(rank)::startSend);
            CompletableFuture<@Nullable Void> last = pairs.ranks.start(2, sent.get(2)::startReceive);
            Patience.await(last);
            CompletableFuture<Void> closing = pairs.ranks.buffer(2).closeAsync();
            for (int rank = 0; rank < 2; rank++) {
                Patience.await(pairs.ranks.start(rank, sent.get(rank)::startReceive));
            }
            for (int rank = 0; rank < 2; rank++) {
                assertThat(failure(pairs.dispatch(rank, DispatchFormat.BF16)))
                        .isInstanceOfSatisfying(
                                ExpertsLostException.class,
                                lost -> assertThat(lost.ranks()).containsExactly(2));
                assertThat(pairs.ranks.team(rank).ended().toCompletableFuture()).isNotDone();
            }
            Patience.await(closing);
        }
    }

    @Test
    @Tag("soak")
    void calls_after_a_rank_has_left_name_it() {
        try (LowLatencyPairs pairs = pairs("...")) {
            pairs.check("before", DispatchFormat.FP8, Form.CALL);
            Patience.await(pairs.ranks.buffer(0).closeAsync());
            List<CompletableFuture<LowLatencyResult>> ends = new ArrayList<>();
            for (int rank = 1; rank < 3; rank++) {
                ends.add(pairs.dispatch(rank, DispatchFormat.BF16));
            }
            ends.forEach(end -> assertThat(failure(end))
                    .isInstanceOfSatisfying(
                            ExpertsLostException.class,
                            lost -> assertThat(lost.ranks()).containsExactly(0)));
        }
    }

    @Test
    @Tag("soak")
    void ranks_with_different_formats_get_an_error() {
        try (LowLatencyPairs pairs = pairs("..")) {
            List<CompletableFuture<LowLatencyResult>> ends =
                    List.of(pairs.dispatch(0, DispatchFormat.BF16), pairs.dispatch(1, DispatchFormat.FP8));
            ends.forEach(end -> assertThat(failure(end))
                    .isInstanceOfAny(CollectiveMismatchException.class, TeamRevokedException.class));
        }
    }

    @Test
    void what_cannot_be_carried_ends_the_buffers_of_all_ranks() {
        try (LowLatencyPairs pairs = pairs("..")) {
            pairs.check("before", DispatchFormat.BF16, Form.CALL);
            try (SoftGpuSetting refusing = SoftGpuSetting.withoutCopies()) {
                List<CompletableFuture<LowLatencyResult>> ends =
                        List.of(pairs.dispatch(0, DispatchFormat.BF16), pairs.dispatch(1, DispatchFormat.BF16));
                ends.forEach(end -> assertThat(failure(end)).isInstanceOf(SluiceException.class));
            }
            for (int rank = 0; rank < 2; rank++) {
                assertThat(failure(pairs.dispatch(rank, DispatchFormat.BF16))).isInstanceOf(SluiceException.class);
            }
        }
    }

    @Test
    void a_call_that_a_rank_does_not_make_in_time_names_the_setting_of_the_driver() {
        try (LowLatencyPairs pairs = pairs("..")) {
            Rank on = pairs.rank(0);
            CompletableFuture<LowLatencyResult> end = pairs.future(callback -> on.gpu()
                    .lowLatencyDispatch(
                            on.x,
                            0,
                            on.choices,
                            0,
                            on.tokens,
                            DispatchOptions.defaults().withTimeout(Duration.ofMillis(20)),
                            callback));
            assertThat(failure(end))
                    .isInstanceOf(CollectiveTimeoutException.class)
                    .hasMessageContaining("rank 1 of")
                    .hasMessageContaining("CUDA_DEVICE_MAX_CONNECTIONS");
        }
    }

    @Test
    void a_rank_whose_engine_ends_is_lost_with_its_experts() {
        try (LowLatencyPairs pairs = pairs("..")) {
            CompletableFuture<LowLatencyResult> end = pairs.dispatch(0, DispatchFormat.FP8);
            Patience.await(pairs.ranks.engine(1).closeAsync());
            assertThat(failure(end)).isInstanceOfSatisfying(ExpertsLostException.class, error -> {
                assertThat(error.ranks()).containsExactly(1);
                assertThat(error.experts()).containsExactly(3, 4, 5);
            });
        }
    }

    /** The rows of a dispatch are on their way. */
    @Test
    void a_buffer_that_is_closed_while_rows_are_carried_keeps_its_memory_until_they_are() {
        try (GpuExpertRanks ranks = GpuExpertRanks.unformed(new Islands(".."))) {
            GpuExpertOptions options = GpuExpertOptions.of(OPTIONS.normalMode(false));
            List<MemoryRegion> tokens = new ArrayList<>();
            List<MemoryRegion> choices = new ArrayList<>();
            for (int rank = 0; rank < 2; rank++) {
                tokens.add(ranks.region(rank, 4 * 128 * Short.BYTES));
                choices.add(ranks.region(rank, 4 * 2 * Long.BYTES));
                GpuExpertRanks.GpuBytes bytes = ranks.bytes(rank, choices.get(rank));
                for (int slot = 0; slot < 8; slot++) {
                    bytes.host().setAtIndex(ValueLayout.JAVA_LONG, slot, slot % 2 * 3L);
                }
                bytes.put();
            }
            // lanes get rings of pinned memory in the first
            List<Long> before = List.of();
            for (int round = 0; round < 5; round++) {
                List<GpuExpertBuffer> buffers = ranks.create(rank -> options).stream()
                        .map(Patience::await)
                        .toList();
                List<CompletableFuture<Void>> closing = new ArrayList<>();
                try (SoftGpuSetting delays = SoftGpuSetting.delays(200_000)) {
                    for (int rank = 0; rank < 2; rank++) {
                        try (GpuDispatch dispatch = buffers.get(rank)
                                .lowLatency()
                                .prepareDispatch(
                                        tokens.get(rank), 0, choices.get(rank), 0, 4, DispatchOptions.defaults())) {
                            dispatch.start();
                        }
                    }
                    // rank 1 first in every other round
                    for (int i = 0; i < 2; i++) {
                        closing.add(buffers.get((round + i) % 2).closeAsync());
                    }
                    closing.forEach(Patience::await);
                }
                before = round == 1 ? SoftGpuCounts.all() : before;
            }
            List<Long> expected = before;
            Patience.until("no more objects than before", () -> SoftGpuCounts.areAtMost(expected));
        }
    }
}
