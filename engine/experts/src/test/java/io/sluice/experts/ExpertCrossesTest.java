package io.sluice.experts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.testkit.FuzzSeed;
import io.sluice.testkit.PairwiseSample;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Dispatch and combine of both modes, with any numbers of ranks, experts, tokens and channels, on every transport, against a
 * reference of one thread: all pairs of them in the short run, in the long one all tokens. {@code sluice.test.seed} says which
 * pairs meet.
 */
class ExpertCrossesTest {
    private static final int ROUNDS = 2;

    private final FuzzSeed seed = FuzzSeed.of("ExpertCrossesTest");

    private List<ExpertCross> sample() {
        Random random = seed.random();
        List<ExpertCross> sample = new ArrayList<>();
        for (int[] row : PairwiseSample.of(ExpertCross.sizes(), random)) {
            sample.add(ExpertCross.of(row, random.nextInt(Integer.MAX_VALUE)));
        }
        return sample;
    }

    static void assumeAvailable(String transport) {
        assumeTrue(
                !transport.equals("verbs") || System.getProperty("sluice.verbs.library") != null,
                "there is no software adapter");
    }

    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp", "verbs", "reordering"})
    void allPairs(String transport) {
        assumeAvailable(transport);
        List<ExpertCross> crosses = sample().stream()
                .filter(cross -> cross.transport().equals(transport))
                .toList();
        assertThat(crosses).isNotEmpty();
        for (int size : ExpertCross.RANKS) {
            run(
                    transport,
                    size,
                    crosses.stream().filter(cross -> cross.ranks() == size).toList());
        }
    }

    /** What one test of all crosses takes, for which it forms a team: those of one length of tokens. */
    private record Part(String transport, int ranks, int hidden) {}

    static Stream<Part> parts() {
        return ExpertCross.TRANSPORTS.stream()
                .flatMap(transport -> Arrays.stream(ExpertCross.RANKS)
                        .boxed()
                        .flatMap(ranks -> Arrays.stream(ExpertCross.HIDDEN)
                                .mapToObj(hidden -> new Part(transport, ranks, hidden))));
    }

    @Tag("soak")
    @ParameterizedTest
    @MethodSource("parts")
    void all(Part part) {
        assumeAvailable(part.transport);
        int size = Arrays.binarySearch(ExpertCross.RANKS, part.ranks);
        List<ExpertCross> crosses =
                ExpertCross.all(ExpertCross.TRANSPORTS.indexOf(part.transport), size, seed.random(size)).stream()
                        .filter(cross -> cross.hidden() == part.hidden)
                        .toList();
        assertThat(crosses).isNotEmpty();
        run(part.transport, part.ranks, crosses);
    }

    private static void run(String transport, int size, List<ExpertCross> crosses) {
        if (crosses.isEmpty()) {
            return;
        }
        try (CrossRanks ranks = CrossRanks.form(transport, size)) {
            for (ExpertCross cross : crosses) {
                runAndCheck(ranks, cross);
            }
        }
    }

    static void runAndCheck(CrossRanks ranks, ExpertCross cross) {
        ranks.createBuffers(ExpertOptions.experts(cross.experts())
                .hidden(cross.hidden())
                .maxTokensPerRank(cross.maxTokens())
                .topK(cross.topK()));
        Workload work = cross.workload();
        switch (cross.mode()) {
            case LOW_LATENCY -> {
                LowLatencyRun run = new LowLatencyRun(ranks, cross, work, cross.encoding(), cross.variant());
                for (int i = 0; i < ROUNDS; i++) {
                    run.round();
                }
            }
            case NORMAL -> {
                NormalRun run = new NormalRun(ranks, cross, work, cross.encoding(), cross.variant());
                for (int i = 0; i < ROUNDS; i++) {
                    run.round();
                }
            }
        }
    }
}
