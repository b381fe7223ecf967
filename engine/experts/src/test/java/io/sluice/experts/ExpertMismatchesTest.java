package io.sluice.experts;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.sluice.collectives.CollectiveMismatchException;
import io.sluice.collectives.CollectiveTimeoutException;
import io.sluice.collectives.TeamRevokedException;
import io.sluice.engine.MemoryRegion;
import io.sluice.testkit.Patience;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Ranks that call different things: each gets an error that says so, or that the team is revoked, and none waits in
 * vain.
 */
class ExpertMismatchesTest {
    private static final int SIZE = 2;
    private static final ExpertOptions OPTIONS =
            ExpertOptions.experts(4).hidden(512).maxTokensPerRank(8).topK(2);

    /** Two ranks with 8 tokens each. */
    private static final class Run implements AutoCloseable {
        final ExpertRanks ranks;
        final TokenData data;
        final List<MemoryRegion> y;

        Run(String transport, ExpertOptions options) {
            ranks = ExpertRanks.form(transport, SIZE, options);
            data = new TokenData(ranks, options, new int[] {8, 8}, TokenData.Choice.RANDOM, 1);
            y = ranks.each(
                    rank -> ranks.region(rank, (long) data.localExperts() * data.rowsOfExpert() * data.rowBytes()));
        }

        CompletableFuture<LowLatencyResult> lowLatency(int rank, DispatchOptions options) {
            return ExpertRanks.call(callback -> ranks.buffer(rank)
                    .lowLatencyDispatch(data.x[rank], 0, data.topkIdx[rank], 0, data.tokens[rank], options, callback));
        }

        List<LowLatencyResult> lowLatency() {
            return ranks.each(rank -> lowLatency(rank, DispatchOptions.defaults())).stream()
                    .map(Patience::await)
                    .toList();
        }

        CompletableFuture<MemoryRegion> combine(int rank, LowLatencyResult result, CombineFormat format) {
            return ExpertRanks.call(callback -> ranks.buffer(rank)
                    .lowLatencyCombine(
                            result,
                            y.get(rank),
                            0,
                            data.topkIdx[rank],
                            0,
                            data.weights[rank],
                            0,
                            data.out[rank],
                            0,
                            CombineOptions.defaults().withFormat(format),
                            callback));
        }

        CompletableFuture<NormalResult> normal(int rank, NormalOptions options) {
            return ExpertRanks.call(callback -> ranks.buffer(rank)
                    .dispatch(
                            data.x[rank],
                            0,
                            data.topkIdx[rank],
                            0,
                            data.weights[rank],
                            0,
                            ranks.buffer(rank).layout(data.topkIdx[rank], 0, data.tokens[rank], null),
                            options,
                            callback));
        }

        List<NormalHandle> normal() {
            List<NormalResult> results = ranks.each(rank -> normal(rank, NormalOptions.defaults())).stream()
                    .map(Patience::await)
                    .toList();
            results.forEach(NormalResult::close);
            return results.stream().map(NormalResult::handle).toList();
        }

        @Override
        public void close() {
            ranks.close();
        }
    }

    private static void assertMismatch(List<? extends CompletableFuture<?>> calls) {
        List<Throwable> errors =
                calls.stream().map(call -> catchThrowable(() -> await(call))).toList();
        // either finds it, or the other one has revoked the team
        assertThat(errors)
                .allSatisfy(error -> assertThat(error)
                        .isInstanceOfAny(CollectiveMismatchException.class, TeamRevokedException.class))
                .anySatisfy(error -> assertThat(error).isInstanceOf(CollectiveMismatchException.class));
    }

    /** With many channels results do not come together. */
    @ParameterizedTest
    @CsvSource({"shm, 512", "tcp, 512", "tcp, 16384"})
    void formatsOfCombineAreCompared(String transport, int hidden) {
        try (Run run = new Run(transport, OPTIONS.hidden(hidden))) {
            for (int round = 0; round < 3; round++) {
                List<LowLatencyResult> results = run.lowLatency();
                CombineFormat format = CombineFormat.values()[round % 2];
                run.ranks
                        .each(rank -> run.combine(rank, results.get(rank), format))
                        .forEach(Patience::await);
                results.forEach(LowLatencyResult::close);
            }
            List<LowLatencyResult> results = run.lowLatency();
            assertMismatch(run.ranks.each(rank -> run.combine(rank, results.get(rank), CombineFormat.values()[rank])));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void resultsOfLowLatencyThatAreCombinedAreCompared(String transport) {
        try (Run run = new Run(transport, OPTIONS)) {
            List<List<LowLatencyResult>> both = List.of(run.lowLatency(), run.lowLatency());
            assertMismatch(
                    run.ranks.each(rank -> run.combine(rank, both.get(rank).get(rank), CombineFormat.BF16)));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void handlesThatAreCombinedAreCompared(String transport) {
        try (Run run = new Run(transport, OPTIONS)) {
            List<List<NormalHandle>> both = List.of(run.normal(), run.normal());
            assertMismatch(run.ranks.each(rank -> ExpertRanks.<MemoryRegion>call(callback -> run.ranks
                    .buffer(rank)
                    .combine(
                            both.get(rank).get(rank),
                            run.y.get(rank),
                            0,
                            null,
                            0,
                            run.data.out[rank],
                            0,
                            null,
                            callback))));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void handlesThatAreDispatchedAgainAreCompared(String transport) {
        try (Run run = new Run(transport, OPTIONS)) {
            List<List<NormalHandle>> both = List.of(run.normal(), run.normal());
            assertMismatch(run.ranks.each(rank -> ExpertRanks.<NormalResult>call(callback -> run.ranks
                    .buffer(rank)
                    .dispatchAgain(
                            run.data.x[rank], 0, both.get(rank).get(rank), NormalOptions.defaults(), callback))));
        }
    }

    private static Stream<List<DispatchFormat>> formats() {
        return Stream.of(
                List.of(DispatchFormat.BF16, DispatchFormat.FP8),
                List.of(DispatchFormat.FP8, DispatchFormat.FP8_ROUNDED),
                List.of(DispatchFormat.FP8_UE8M0, DispatchFormat.FP8_ROUNDED));
    }

    @ParameterizedTest
    @MethodSource("formats")
    void formatsOfDispatchAreCompared(List<DispatchFormat> formats) {
        try (Run run = new Run("tcp", OPTIONS)) {
            assertMismatch(run.ranks.each(
                    rank -> run.lowLatency(rank, DispatchOptions.defaults().withFormat(formats.get(rank)))));
        }
        try (Run run = new Run("shm", OPTIONS)) {
            assertMismatch(run.ranks.each(
                    rank -> run.normal(rank, NormalOptions.defaults().withFormat(formats.get(rank)))));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void aNumberOfRowsOnOneRankAloneIsNoticed(String transport) {
        try (Run run = new Run(transport, OPTIONS)) {
            assertMismatch(run.ranks.each(
                    rank -> run.normal(rank, NormalOptions.defaults().withWorstTokens(rank * SIZE * 8))));
        }
    }

    @Test
    void aFreshAndACachedDispatchAreCompared() {
        try (Run run = new Run("shm", OPTIONS)) {
            List<NormalHandle> handles = run.normal();
            assertMismatch(List.of(
                    run.normal(0, NormalOptions.defaults()),
                    ExpertRanks.<NormalResult>call(callback -> run.ranks
                            .buffer(1)
                            .dispatchAgain(run.data.x[1], 0, handles.get(1), NormalOptions.defaults(), callback))));
        }
    }

    /** The modes are apart from each other, so only time tells. */
    @Test
    void ranksThatCallDifferentModesEndByTheirTime() {
        Duration soon = Duration.ofMillis(50);
        try (Run run = new Run("shm", OPTIONS)) {
            CompletableFuture<LowLatencyResult> one =
                    run.lowLatency(0, DispatchOptions.defaults().withTimeout(soon));
            CompletableFuture<NormalResult> other =
                    run.normal(1, NormalOptions.defaults().withTimeout(soon));
            for (CompletableFuture<?> each : List.of(one, other)) {
                assertThatThrownBy(() -> await(each))
                        .isInstanceOfAny(CollectiveTimeoutException.class, TeamRevokedException.class);
            }
        }
    }

    private static Stream<UnaryOperator<ExpertOptions>> otherOptions() {
        return Stream.of(
                options -> options.hidden(640),
                options -> options.maxTokensPerRank(9),
                options -> options.topK(3),
                options -> options.lowLatency(false),
                options -> options.normalMode(false),
                options ->
                        ExpertOptions.experts(6).hidden(512).maxTokensPerRank(8).topK(2));
    }

    @Test
    void optionsOfBuffersAreCompared() {
        try (ExpertRanks ranks = ExpertRanks.form("shm", SIZE)) {
            otherOptions()
                    .forEach(other -> ranks.each(rank ->
                                    ExpertBuffer.create(ranks.team(rank), rank == 0 ? OPTIONS : other.apply(OPTIONS)))
                            .forEach(creating -> failure(creating, CollectiveMismatchException.class)));
            // the team goes on
            ranks.create(OPTIONS).forEach(creating -> await(await(creating).closeAsync()));
        }
    }

    private static Stream<ExpertOptions> unfitOptions() {
        return Stream.of(
                ExpertOptions.experts(7),
                OPTIONS.lowLatency(false).normalMode(false),
                ExpertOptions.experts(65_536).maxTokensPerRank(1 << 20));
    }

    /** The rank whose options fit no buffer throws at once, and the others do not wait for it. */
    @ParameterizedTest
    @MethodSource("unfitOptions")
    void optionsThatFitNoBufferEndTheOtherRanks(ExpertOptions unfit) {
        try (ExpertRanks ranks = ExpertRanks.form("tcp", SIZE)) {
            CompletableFuture<ExpertBuffer> creating = ExpertBuffer.create(ranks.team(0), OPTIONS);
            assertThatThrownBy(() -> ExpertBuffer.create(ranks.team(1), unfit))
                    .isInstanceOf(IllegalArgumentException.class);
            failure(creating, CollectiveMismatchException.class);
            ranks.create(OPTIONS).forEach(each -> await(await(each).closeAsync()));
        }
    }
}
