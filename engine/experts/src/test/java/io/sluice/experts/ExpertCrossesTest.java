package io.sluice.experts;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.sluice.testkit.FuzzSeed;
import io.sluice.testkit.PairwiseSample;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
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

    @Tag("soak")
    @ParameterizedTest
    @ValueSource(strings = {"shm", "tcp", "verbs", "reordering"})
    void all(String transport) {
        assumeAvailable(transport);
        for (int size = 0; size < ExpertCross.RANKS.length; size++) {
            List<ExpertCross> crosses =
                    ExpertCross.all(ExpertCross.TRANSPORTS.indexOf(transport), size, seed.random(size));
            run(transport, ExpertCross.RANKS[size], crosses);
            System.out.println("ExpertCrossesTest: " + transport + ", " + ExpertCross.RANKS[size] + " ranks: "
                    + crosses.size() + " crosses");
        }
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
