package io.sluice.experts;

import static io.sluice.testkit.Patience.await;
import static io.sluice.testkit.Patience.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.MemoryRegion;
import io.sluice.testkit.Patience;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Low-latency dispatch and combine, against what is computed element by element. */
class LowLatencyTest {
    private static final byte POISON = 0x5A;

    /** The ranks of a test, and their tokens. */
    private static final class Run implements AutoCloseable {
        final ExpertRanks ranks;
        final TokenData data;
        private final List<MemoryRegion> y;

        Run(String transport, int size, ExpertOptions options, int[] tokens, TokenData.Choice choice, long seed) {
            assumeTrue(
                    !transport.equals("verbs") || System.getProperty("sluice.verbs.library") != null,
                    "there is no software adapter");
            ranks = ExpertRanks.form(transport, size, options);
            data = new TokenData(ranks, options, tokens, choice, seed);
            y = ranks.each(
                    rank -> ranks.region(rank, (long) data.localExperts() * data.rowsOfExpert() * data.rowBytes()));
        }

        CompletableFuture<LowLatencyResult> dispatch(int rank, DispatchOptions options) {
            return ExpertRanks.call(callback -> ranks.buffer(rank)
                    .lowLatencyDispatch(data.x[rank], 0, data.topkIdx[rank], 0, data.tokens[rank], options, callback));
        }

        CompletableFuture<MemoryRegion> combine(
                int rank, LowLatencyResult result, MemoryRegion from, CombineOptions options) {
            return ExpertRanks.call(callback -> ranks.buffer(rank)
                    .lowLatencyCombine(
                            result,
                            from,
                            0,
                            data.topkIdx[rank],
                            0,
                            data.weights[rank],
                            0,
                            data.out[rank],
                            0,
                            options,
                            callback));
        }

        List<LowLatencyResult> dispatch(DispatchOptions options) {
            return ranks.each(rank -> dispatch(rank, options)).stream()
                    .map(Patience::await)
                    .toList();
        }

        void checkReceived(List<LowLatencyResult> results) {
            for (int rank = 0; rank < ranks.size(); rank++) {
                data.checkReceived(rank, results.get(rank));
            }
        }

        void combineAndCheck(List<LowLatencyResult> results) {
            List<CompletableFuture<MemoryRegion>> combining = new ArrayList<>();
            for (int rank = 0; rank < ranks.size(); rank++) {
                data.applyExperts(rank, results.get(rank), y.get(rank));
                data.out[rank].segment().fill(POISON);
                combining.add(combine(rank, results.get(rank), y.get(rank), CombineOptions.defaults()));
            }
            for (int rank = 0; rank < ranks.size(); rank++) {
                assertThat(await(combining.get(rank))).isEqualTo(data.out[rank]);
                data.checkCombined(rank);
            }
        }

        @Override
        public void close() {
            ranks.close();
        }
    }

    private static ExpertOptions options(int experts) {
        return ExpertOptions.experts(experts).hidden(256).maxTokensPerRank(16).topK(3);
    }

    /** Where messages are put, some ranks get so many bytes that they do not come together. */
    private static ExpertOptions options(String transport, int experts) {
        return options(experts).hidden(transport.equals("shm") ? 256 : 4096);
    }

    private static final DispatchOptions BF16 = DispatchOptions.defaults();

    @ParameterizedTest
    @CsvSource({
        "shm, 1, RANDOM",
        "shm, 2, RANDOM",
        "shm, 3, MASKED",
        "shm, 4, ONE_EXPERT",
        "shm, 2, NOT_THE_FIRST_RANK",
        "tcp, 2, RANDOM",
        "tcp, 3, MASKED",
        "tcp, 4, ONE_EXPERT",
        "tcp, 2, NOT_THE_FIRST_RANK",
        "verbs, 2, MASKED",
        "reordering, 3, MASKED"
    })
    void tokensComeToTheirExpertsAndTheResultsBack(String transport, int size, TokenData.Choice choice) {
        int[] tokens = new int[size];
        for (int rank = 0; rank < size; rank++) {
            tokens[rank] = 16 - rank;
        }
        try (Run run = new Run(transport, size, options(transport, 3 * size), tokens, choice, size)) {
            for (int round = 0; round < 3; round++) {
                List<LowLatencyResult> results = run.dispatch(BF16);
                run.checkReceived(results);
                run.combineAndCheck(results);
                results.forEach(LowLatencyResult::close);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void ranksWithoutTokensTakePart(String transport) {
        try (Run run = new Run(transport, 3, options(6), new int[] {0, 1, 0}, TokenData.Choice.RANDOM, 7)) {
            for (int round = 0; round < 3; round++) {
                List<LowLatencyResult> results = run.dispatch(BF16);
                run.checkReceived(results);
                run.combineAndCheck(results);
                results.forEach(LowLatencyResult::close);
            }
        }
        try (Run run = new Run(transport, 2, options(2).topK(1), new int[] {0, 0}, TokenData.Choice.RANDOM, 7)) {
            List<LowLatencyResult> results = run.dispatch(BF16);
            run.checkReceived(results);
            run.combineAndCheck(results);
        }
    }

    /** Each of its three experts is on the other rank. */
    @ParameterizedTest
    @ValueSource(ints = {1, 16})
    void aTokenIsPutToARankOnce(int tokens) {
        ExpertOptions options = options("tcp", 6);
        int[] all = {tokens, tokens};
        try (Run run = new Run("tcp", 2, options, all, TokenData.Choice.NOT_THE_FIRST_RANK, 5)) {
            long before = run.ranks.engine(0).metrics().bytes(Operation.WRITE);
            List<LowLatencyResult> results = run.dispatch(BF16);
            run.checkReceived(results);
            run.combineAndCheck(results);
            long payload = (long) tokens * run.data.rowBytes();
            assertThat(run.ranks.engine(0).metrics().bytes(Operation.WRITE) - before)
                    .isBetween(payload, 2 * payload);
        }
    }

    @ParameterizedTest
    @EnumSource(DispatchFormat.class)
    void everyFormatKeepsTheLayout(DispatchFormat format) {
        for (String transport : List.of("shm", "tcp")) {
            ExpertOptions options = options(4).hidden(512);
            try (Run run = new Run(transport, 2, options, new int[] {16, 5}, TokenData.Choice.MASKED, 3)) {
                List<LowLatencyResult> results = run.dispatch(BF16.withFormat(format));
                assertThat(results).allMatch(result -> result.format() == format);
                assertThat(results).allMatch(result -> result.scales().isPresent() == format.isQuantised());
                run.checkReceived(results);
                run.combineAndCheck(results);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void encodedResultsAreNearTheOthers(String transport) {
        ExpertOptions options = options(4).hidden(2048);
        try (Run run = new Run(transport, 2, options, new int[] {16, 16}, TokenData.Choice.RANDOM, 3)) {
            List<LowLatencyResult> results = run.dispatch(BF16);
            List<CompletableFuture<MemoryRegion>> combining = new ArrayList<>();
            scale(run.data.x[0]);
            scale(run.data.x[1]);
            for (int rank = 0; rank < 2; rank++) {
                run.data.applyExperts(rank, results.get(rank), run.y.get(rank));
            }
            for (int rank = 0; rank < 2; rank++) {
                combining.add(run.combine(
                        rank,
                        results.get(rank),
                        run.y.get(rank),
                        CombineOptions.defaults().withFormat(CombineFormat.LOGFMT)));
            }
            for (int rank = 0; rank < 2; rank++) {
                await(combining.get(rank));
                assertThat(run.data.combinedError(rank)).isBetween(1e-4, 4.5e-3);
            }
        }
    }

    /** So that no result of an expert exceeds 1. */
    private static void scale(MemoryRegion tokens) {
        for (long at = 0; at < tokens.length(); at += Short.BYTES) {
            float value = Float.intBitsToFloat(tokens.segment().get(ValueLayout.JAVA_SHORT_UNALIGNED, at) << 16);
            tokens.segment().set(ValueLayout.JAVA_SHORT_UNALIGNED, at, TokenData.bf16(value * 0.02f));
        }
    }

    /** Of memory that is used again everything that counts is written again. */
    @ParameterizedTest
    @CsvSource({"shm, 256", "tcp, 256", "tcp, 4096"})
    void poisonedMemoryDoesNotShow(String transport, int hidden) {
        int[] tokens = {16, 3};
        try (Run run = new Run(transport, 2, options(4).hidden(hidden), tokens, TokenData.Choice.MASKED, 1)) {
            for (int round = 0; round < 100; round++) {
                run.data.fill(round % 2 == 0 ? TokenData.Choice.RANDOM : TokenData.Choice.MASKED, round);
                List<LowLatencyResult> results = run.dispatch(BF16);
                run.checkReceived(results);
                run.combineAndCheck(results);
                for (LowLatencyResult result : results) {
                    result.tokens().segment().fill(POISON);
                    result.sources().segment().fill(POISON);
                    result.counts().segment().fill(POISON);
                    result.ranges().segment().fill(POISON);
                    result.close();
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void twoResultsMayLiveAtOnce(String transport) {
        try (Run run = new Run(transport, 2, options(transport, 4), new int[] {16, 16}, TokenData.Choice.MASKED, 5)) {
            for (int round = 0; round < 5; round++) {
                List<LowLatencyResult> first = run.dispatch(BF16);
                List<LowLatencyResult> second = run.dispatch(BF16);
                run.checkReceived(first);
                run.checkReceived(second);
                failure(run.dispatch(0, BF16), TooManyLiveResultsException.class);
                // the younger one first
                run.combineAndCheck(second);
                second.forEach(LowLatencyResult::close);
                run.combineAndCheck(first);
                // once more
                run.combineAndCheck(first);
                first.forEach(LowLatencyResult::close);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void aHookReceivesWhenItIsAsked(String transport) {
        try (Run run = new Run(transport, 2, options(transport, 4), new int[] {16, 9}, TokenData.Choice.MASKED, 5)) {
            for (int round = 0; round < 3; round++) {
                List<CompletableFuture<ReceiveHook<LowLatencyResult>>> first = hooked(run);
                List<CompletableFuture<ReceiveHook<LowLatencyResult>>> second = hooked(run);
                List<ReceiveHook<LowLatencyResult>> hooks =
                        first.stream().map(Patience::await).toList();
                List<ReceiveHook<LowLatencyResult>> others =
                        second.stream().map(Patience::await).toList();
                // the inputs are free
                run.data.x[0].segment().fill(POISON);
                run.data.fill(TokenData.Choice.MASKED, 5);
                List<LowLatencyResult> late = complete(others);
                List<LowLatencyResult> results = complete(hooks);
                assertThatThrownBy(() -> hooks.getFirst().complete((result, error) -> {}))
                        .isInstanceOf(IllegalStateException.class);
                run.checkReceived(results);
                run.checkReceived(late);
                combineHooked(run, results);
                combineHooked(run, late);
                results.forEach(LowLatencyResult::close);
                late.forEach(LowLatencyResult::close);
            }
        }
    }

    private static List<CompletableFuture<ReceiveHook<LowLatencyResult>>> hooked(Run run) {
        return run.ranks.each(rank -> ExpertRanks.call(callback -> run.ranks
                .buffer(rank)
                .lowLatencyDispatchHooked(
                        run.data.x[rank], 0, run.data.topkIdx[rank], 0, run.data.tokens[rank], BF16, callback)));
    }

    private static <R> List<R> complete(List<ReceiveHook<R>> hooks) {
        List<CompletableFuture<R>> completing = new ArrayList<>();
        for (ReceiveHook<R> hook : hooks) {
            completing.add(ExpertRanks.call(hook::complete));
        }
        return completing.stream().map(Patience::await).toList();
    }

    private static void combineHooked(Run run, List<LowLatencyResult> results) {
        List<CompletableFuture<ReceiveHook<MemoryRegion>>> sending = new ArrayList<>();
        for (int i = 0; i < results.size(); i++) {
            int rank = i;
            run.data.applyExperts(rank, results.get(rank), run.y.get(rank));
            run.data.out[rank].segment().fill(POISON);
            sending.add(ExpertRanks.call(callback -> run.ranks
                    .buffer(rank)
                    .lowLatencyCombineHooked(
                            results.get(rank),
                            run.y.get(rank),
                            0,
                            run.data.topkIdx[rank],
                            0,
                            run.data.weights[rank],
                            0,
                            run.data.out[rank],
                            0,
                            CombineOptions.defaults(),
                            callback)));
        }
        List<ReceiveHook<MemoryRegion>> hooks =
                sending.stream().map(Patience::await).toList();
        // what was sent may change
        run.y.forEach(y -> y.segment().fill(POISON));
        complete(hooks);
        for (int rank = 0; rank < results.size(); rank++) {
            run.data.checkCombined(rank);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp"})
    void resultsAreSentFromWhereTheyAre(String transport) {
        try (Run run = new Run(transport, 2, options(transport, 4), new int[] {16, 9}, TokenData.Choice.MASKED, 5)) {
            for (int round = 0; round < 4; round++) {
                List<LowLatencyResult> results = run.dispatch(BF16);
                List<CompletableFuture<MemoryRegion>> combining = new ArrayList<>();
                for (int rank = 0; rank < 2; rank++) {
                    MemoryRegion buffer = results.get(rank).combineBuffer();
                    run.data.applyExperts(rank, results.get(rank), buffer);
                    combining.add(run.combine(rank, results.get(rank), buffer, CombineOptions.defaults()));
                }
                for (int rank = 0; rank < 2; rank++) {
                    await(combining.get(rank));
                    run.data.checkCombined(rank);
                    results.get(rank).close();
                }
            }
        }
    }

    @Test
    void tokensAreCountedByExpert() {
        try (Run run = new Run("shm", 2, options(4), new int[] {16, 16}, TokenData.Choice.RANDOM, 5)) {
            MemoryRegion statistics = run.ranks.region(0, 24);
            statistics.segment().setAtIndex(ValueLayout.JAVA_INT, 1, 1000);
            int[] counts = new int[2];
            for (int round = 0; round < 3; round++) {
                CompletableFuture<LowLatencyResult> counted = run.dispatch(0, BF16.withStatistics(statistics, 4));
                await(run.dispatch(1, BF16)).close();
                LowLatencyResult result = await(counted);
                counts[0] += result.count(0);
                counts[1] += result.count(1);
                result.close();
            }
            assertThat(statistics.segment().asSlice(4, 8).toArray(ValueLayout.JAVA_INT))
                    .containsExactly(1000 + counts[0], counts[1]);
        }
    }

    @Test
    void aWrongCallCallsNothing() {
        try (Run run = new Run("shm", 1, options(4), new int[] {16}, TokenData.Choice.RANDOM, 5)) {
            ExpertBuffer buffer = run.ranks.buffer(0);
            MemoryRegion x = run.data.x[0];
            MemoryRegion idx = run.data.topkIdx[0];
            ExpertCallback<LowLatencyResult> none = (result, error) -> {};
            assertThatThrownBy(() -> buffer.lowLatencyDispatch(x, 0, idx, 0, 17, BF16, none))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> buffer.lowLatencyDispatch(x, 2, idx, 0, 16, BF16, none))
                    .isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> buffer.lowLatencyDispatch(
                            x, 0, idx, 0, 16, BF16.withFormat(DispatchFormat.FP8_UE8M0), none))
                    .isInstanceOf(IllegalArgumentException.class);
            idx.segment().set(ValueLayout.JAVA_LONG, 0, 4);
            assertThatThrownBy(() -> buffer.lowLatencyDispatch(x, 0, idx, 0, 16, BF16, none))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("expert 4");
            idx.segment().set(ValueLayout.JAVA_LONG, 0, -1);
            List<LowLatencyResult> results = run.dispatch(BF16);
            run.checkReceived(results);
            LowLatencyResult result = results.getFirst();
            run.combineAndCheck(results);
            result.close();
            assertThatThrownBy(() -> run.combine(0, result, run.y.getFirst(), CombineOptions.defaults()))
                    .isInstanceOf(IllegalStateException.class);
            try (Run other = new Run("shm", 1, options(4), new int[] {16}, TokenData.Choice.RANDOM, 5)) {
                LowLatencyResult foreign = other.dispatch(BF16).getFirst();
                assertThatThrownBy(() -> run.combine(0, foreign, run.y.getFirst(), CombineOptions.defaults()))
                        .isInstanceOf(IllegalArgumentException.class);
            }
        }
    }
}
