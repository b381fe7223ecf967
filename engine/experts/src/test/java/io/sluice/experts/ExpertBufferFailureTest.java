package io.sluice.experts;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.collectives.TeamClosedException;
import io.sluice.collectives.TeamRevokedException;
import io.sluice.engine.RegistrationException;
import io.sluice.testkit.OpenDescriptors;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that cannot succeed end once, typed, on every rank. */
class ExpertBufferFailureTest {
    private static final ExpertOptions OPTIONS =
            ExpertOptions.experts(6).hidden(128).maxTokensPerRank(8).topK(2);
    private static final DispatchOptions DEFAULTS = DispatchOptions.defaults();

    private static CompletableFuture<LowLatencyResult> dispatch(ExpertRanks ranks, TokenData data, int rank) {
        return ExpertRanks.call(callback -> ranks.buffer(rank)
                .lowLatencyDispatch(data.x[rank], 0, data.topkIdx[rank], 0, data.tokens[rank], DEFAULTS, callback));
    }

    private static TokenData data(ExpertRanks ranks) {
        int[] tokens = new int[ranks.size()];
        Arrays.fill(tokens, 8);
        return new TokenData(ranks, OPTIONS, tokens, TokenData.Choice.RANDOM, 1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void aLostRankEndsWhatNeedsItsExperts(String transport) {
        try (ExpertRanks ranks = ExpertRanks.form(transport, 3, OPTIONS)) {
            TokenData data = data(ranks);
            for (int round = 0; round < 3; round++) {
                ranks.each(rank -> dispatch(ranks, data, rank))
                        .forEach(each -> await(each).close());
            }
            List<CompletableFuture<LowLatencyResult>> pending = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                for (int rank = 0; rank < 2; rank++) {
                    pending.add(dispatch(ranks, data, rank));
                }
            }
            CompletableFuture<Void> closed = ranks.engine(2).closeAsync();
            for (CompletableFuture<LowLatencyResult> each : pending) {
                ExpertsLostException lost = failure(each, ExpertsLostException.class);
                assertThat(lost.ranks()).containsExactly(2);
                assertThat(lost.experts()).containsExactly(4, 5);
            }
            failure(dispatch(ranks, data, 0), ExpertsLostException.class);
            await(closed);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void aRankThatClosesItsBufferEndsWhatNeedsIt(String transport) {
        try (ExpertRanks ranks = ExpertRanks.form(transport, 2, OPTIONS)) {
            TokenData data = data(ranks);
            ranks.each(rank -> dispatch(ranks, data, rank))
                    .forEach(each -> await(each).close());
            CompletableFuture<LowLatencyResult> pending = dispatch(ranks, data, 0);
            await(ranks.buffer(1).closeAsync());
            assertThat(failure(pending, ExpertsLostException.class).ranks()).containsExactly(1);
            failure(dispatch(ranks, data, 1), ExpertBufferClosedException.class);
            // the team goes on
            assertThat(ranks.team(0).failed()).isEmpty();
            await(ranks.buffer(0).closeAsync());
            ranks.create(OPTIONS).stream().map(Patience::await).toList().forEach(each -> await(each.closeAsync()));
        }
    }

    /** One that had sent everything before. */
    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void aRankThatClosesItsBufferIsReceivedFirst(String transport) {
        for (int round = 0; round < 5; round++) {
            try (ExpertRanks ranks = ExpertRanks.form(transport, 2, OPTIONS)) {
                TokenData data = data(ranks);
                CompletableFuture<ReceiveHook<LowLatencyResult>> held = ExpertRanks.call(callback -> ranks.buffer(0)
                        .lowLatencyDispatchHooked(
                                data.x[0], 0, data.topkIdx[0], 0, data.tokens[0], DEFAULTS, callback));
                await(dispatch(ranks, data, 1));
                CompletableFuture<Void> closed = ranks.buffer(1).closeAsync();
                LowLatencyResult result = await(ExpertRanks.call(await(held)::complete));
                data.checkReceived(0, result);
                await(closed);
                data.checkReceived(0, result);
            }
        }
    }

    @Test
    void ownCallsEndWhenTheBufferIsClosed() {
        try (ExpertRanks ranks = ExpertRanks.form("shm", 2, OPTIONS)) {
            TokenData data = data(ranks);
            CompletableFuture<LowLatencyResult> pending = dispatch(ranks, data, 0);
            CompletableFuture<ReceiveHook<LowLatencyResult>> held = ExpertRanks.call(callback -> ranks.buffer(0)
                    .lowLatencyDispatchHooked(data.x[0], 0, data.topkIdx[0], 0, data.tokens[0], DEFAULTS, callback));
            ReceiveHook<LowLatencyResult> hook = await(held);
            CompletableFuture<Void> closed = ranks.buffer(0).closeAsync();
            failure(pending, ExpertBufferClosedException.class);
            await(ranks.buffer(1).closeAsync());
            await(closed);
            failure(ExpertRanks.call(hook::complete), ExpertBufferClosedException.class);
        }
    }

    @Test
    void aRankThatDoesNotCallEndsTheOthersByTheirTime() {
        try (ExpertRanks ranks = ExpertRanks.form("tcp", 2, OPTIONS)) {
            TokenData data = data(ranks);
            CompletableFuture<LowLatencyResult> impatient = ExpertRanks.call(callback -> ranks.buffer(0)
                    .lowLatencyDispatch(
                            data.x[0],
                            0,
                            data.topkIdx[0],
                            0,
                            data.tokens[0],
                            DEFAULTS.withTimeout(Duration.ofMillis(50)),
                            callback));
            failure(impatient, CollectiveTimeoutException.class);
            Patience.until(
                    "the other rank knows",
                    () -> ranks.team(1).ended().toCompletableFuture().isDone());
            failure(dispatch(ranks, data, 1), TeamRevokedException.class);
        }
    }

    @Test
    void differentFormatsEndOnEveryRank() {
        try (ExpertRanks ranks = ExpertRanks.form("shm", 2, OPTIONS)) {
            TokenData data = data(ranks);
            CompletableFuture<LowLatencyResult> plain = dispatch(ranks, data, 0);
            CompletableFuture<LowLatencyResult> quantised = ExpertRanks.call(callback -> ranks.buffer(1)
                    .lowLatencyDispatch(
                            data.x[1],
                            0,
                            data.topkIdx[1],
                            0,
                            data.tokens[1],
                            DEFAULTS.withFormat(DispatchFormat.FP8),
                            callback));
            // either finds it, or the other one has revoked the team
            for (CompletableFuture<LowLatencyResult> each : List.of(plain, quantised)) {
                assertThatThrownBy(() -> await(each))
                        .isInstanceOfAny(CollectiveMismatchException.class, TeamRevokedException.class);
            }
        }
    }

    @Test
    void theEndOfTheTeamEndsItsBuffers() {
        try (ExpertRanks ranks = ExpertRanks.form("shm", 3, OPTIONS)) {
            TokenData data = data(ranks);
            CompletableFuture<LowLatencyResult> pending = dispatch(ranks, data, 0);
            CompletableFuture<LowLatencyResult> own = dispatch(ranks, data, 1);
            await(ranks.team(1).closeAsync());
            failure(own, TeamClosedException.class);
            assertThat(failure(pending, ExpertsLostException.class).ranks()).containsExactly(1);
        }
    }

    @Test
    void ranksThatCreateABufferDifferentlyGetAnError() {
        try (ExpertRanks ranks = ExpertRanks.form("shm", 2)) {
            List<CompletableFuture<ExpertBuffer>> creating =
                    ranks.each(rank -> ExpertBuffer.create(ranks.team(rank), OPTIONS.hidden(128 * (rank + 1))));
            creating.forEach(each -> failure(each, CollectiveMismatchException.class));
            creating = ranks.each(rank ->
                    ExpertBuffer.create(ranks.team(rank), rank == 0 ? OPTIONS : OPTIONS.backend("carrier-pigeon")));
            failure(creating.get(0), BackendUnavailableException.class);
            assertThat(failure(creating.get(1), BackendUnavailableException.class))
                    .hasMessageContaining("carrier-pigeon")
                    .hasMessageContaining("sluice");
            // and none is left
            Patience.until(
                    "all regions are closed",
                    () -> ranks.engine(0).regions().size()
                            == ranks.engine(1).regions().size());
            assertThatThrownBy(() -> ExpertBuffer.create(ranks.team(0), ExpertOptions.experts(7)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void aBufferBeyondTheFreeMemoryIsRefusedWithItsSize() {
        try (ExpertRanks ranks = ExpertRanks.form("shm", 1)) {
            ExpertOptions large = ExpertOptions.experts(512).hidden(65_536).maxTokensPerRank(100_000);
            CompletableFuture<ExpertBuffer> creating = ExpertBuffer.create(ranks.team(0), large);
            assertThat(failure(creating, RegistrationException.class))
                    .hasMessageContaining("512 experts")
                    .hasMessageContaining("bytes that are free");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void nothingIsLeftOfClosedBuffers(String transport) {
        try (ExpertRanks ranks = ExpertRanks.form(transport, 2, OPTIONS)) {
            TokenData data = data(ranks);
            ranks.each(rank -> dispatch(ranks, data, rank))
                    .forEach(each -> await(each).close());
            ranks.closeBuffers();
            int regions = ranks.engine(0).regions().size();
            int before = OpenDescriptors.count();
            for (int i = 0; i < 3; i++) {
                List<ExpertBuffer> again =
                        ranks.create(OPTIONS).stream().map(Patience::await).toList();
                again.stream().map(ExpertBuffer::closeAsync).toList().forEach(Patience::await);
            }
            OpenDescriptors.assertSettleAt(before);
            Patience.until(
                    "the tokens are left", () -> ranks.engine(0).regions().size() <= regions);
        }
    }
}
