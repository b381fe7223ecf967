package io.sluice.experts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.SluiceException;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls of normal mode that cannot succeed end once, with a typed error. */
class NormalModeFailureTest {
    private static final int EXPERTS = 6;
    private static final int HIDDEN = 128;
    private static final int TOP_K = 2;
    private static final int TOKENS = 4;

    private static CrossRanks ranks(String transport, int size) {
        CrossRanks ranks = CrossRanks.form(transport, size);
        ranks.createBuffers(ExpertOptions.experts(EXPERTS)
                .hidden(HIDDEN)
                .maxTokensPerRank(TOKENS)
                .topK(TOP_K));
        return ranks;
    }

    /** Dispatches tokens that go to the first and the last expert. */
    private static CompletableFuture<NormalResult> dispatch(CrossRanks ranks, int of, NormalOptions options) {
        MemoryRegion x = ranks.region(of, (long) TOKENS * HIDDEN * Short.BYTES);
        MemoryRegion choices = ranks.region(of, (long) TOKENS * TOP_K * Long.BYTES);
        MemoryRegion weights = ranks.region(of, (long) TOKENS * TOP_K * Float.BYTES);
        for (int slot = 0; slot < TOKENS * TOP_K; slot++) {
            choices.segment().setAtIndex(ValueLayout.JAVA_LONG, slot, slot % TOP_K == 0 ? 0 : EXPERTS - 1);
        }
        return ranks.on(of, (rank, buffer, callback) -> {
            NormalLayout layout = buffer.layout(choices, 0, TOKENS, null);
            buffer.dispatch(x, 0, choices, 0, weights, 0, layout, options, callback);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void aLostRankEndsDispatchesOfTheOthers(String transport) {
        try (CrossRanks ranks = ranks(transport, 3)) {
            // so that there is memory
            CompletableFuture<NormalResult> first = dispatch(ranks, 0, NormalOptions.defaults());
            CompletableFuture<NormalResult> second = dispatch(ranks, 1, NormalOptions.defaults());
            Patience.await(dispatch(ranks, 2, NormalOptions.defaults())).close();
            Patience.await(first).close();
            Patience.await(second).close();
            first = dispatch(ranks, 0, NormalOptions.defaults());
            second = dispatch(ranks, 1, NormalOptions.defaults());
            Patience.await(ranks.team(2).closeAsync());
            ExpertsLostException lost = Patience.failure(first, ExpertsLostException.class);
            assertThat(lost.ranks()).contains(2);
            assertThat(lost.experts()).containsAll(Set.of(4, 5));
            Patience.failure(second, ExpertsLostException.class);
            assertThatThrownBy(() -> dispatch(ranks, 0, NormalOptions.defaults()))
                    .isInstanceOf(ExpertsLostException.class);
        }
    }

    @Test
    void aRankThatDoesNotCallIsWaitedForInVain() {
        try (CrossRanks ranks = ranks("shm", 2)) {
            NormalOptions options = NormalOptions.defaults().withTimeout(Duration.ofMillis(50));
            Patience.failure(dispatch(ranks, 0, options), CollectiveTimeoutException.class);
        }
    }

    @Test
    void formatsThatDifferAreNoticed() {
        try (CrossRanks ranks = ranks("shm", 2)) {
            CompletableFuture<NormalResult> first = dispatch(ranks, 0, NormalOptions.defaults());
            CompletableFuture<NormalResult> second =
                    dispatch(ranks, 1, NormalOptions.defaults().withFormat(DispatchFormat.FP8));
            Throwable one = Patience.failure(first, SluiceException.class);
            Throwable other = Patience.failure(second, SluiceException.class);
            assertThat(one instanceof CollectiveMismatchException || other instanceof CollectiveMismatchException)
                    .as("%s and %s", one, other)
                    .isTrue();
        }
    }

    @Test
    void moreRowsThanTheWorstCaseAreAnError() {
        try (CrossRanks ranks = ranks("shm", 2)) {
            NormalOptions options = NormalOptions.defaults().withWorstTokens(TOKENS);
            CompletableFuture<NormalResult> first = dispatch(ranks, 0, options);
            CompletableFuture<NormalResult> second = dispatch(ranks, 1, options);
            assertThat(Patience.failure(first, SluiceException.class)).isNotNull();
            assertThat(Patience.failure(second, SluiceException.class)).isNotNull();
        }
    }

    @Test
    void whatCannotBeMeantIsRefused() {
        try (CrossRanks ranks = ranks("shm", 2)) {
            ExpertBuffer buffer = ranks.buffer(0);
            MemoryRegion choices = ranks.region(0, (long) TOKENS * TOP_K * Long.BYTES);
            MemoryRegion x = ranks.region(0, (long) TOKENS * HIDDEN * Short.BYTES);
            assertThatThrownBy(() -> buffer.layout(choices, 0, TOKENS + 1, null))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(Integer.toString(TOKENS));
            assertThatThrownBy(() -> buffer.layout(choices, Long.BYTES, TOKENS, null))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            NormalLayout layout = buffer.layout(choices, 0, TOKENS, null);
            choices.segment().set(ValueLayout.JAVA_LONG, 0, EXPERTS);
            assertThatThrownBy(() -> buffer.layout(choices, 0, TOKENS, null))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(Integer.toString(EXPERTS));
            ExpertCallback<NormalResult> none = (result, error) -> {};
            NormalOptions options = NormalOptions.defaults();
            assertThatThrownBy(() -> buffer.dispatch(x, 2, choices, 0, choices, 0, layout, options, none))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> buffer.dispatch(
                            x, 0, choices, 0, choices, 0, layout, options.withFormat(DispatchFormat.FP8_UE8M0), none))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("512");
            assertThatThrownBy(() -> buffer.dispatch(
                            x, 0, choices, 0, choices, 0, layout, options.withWorstTokens(2 * TOKENS + 1), none))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }
}
