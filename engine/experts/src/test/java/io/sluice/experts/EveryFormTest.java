package io.sluice.experts;

import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each form of dispatch and combine brings every rank what it should. */
class EveryFormTest {
    private static final int EXPERTS_PER_RANK = 2;
    private static final int HIDDEN = 512;
    private static final int TOP_K = 3;
    private static final int TOKENS = 10;
    private static final int ROUNDS = 3;

    /** The forms, but for encodings that go round. */
    private static Stream<ExpertCross.Variant> variants() {
        return Stream.of(ExpertCross.Variant.values());
    }

    static void createBuffers(CrossRanks ranks) {
        ranks.createBuffers(ExpertOptions.experts(EXPERTS_PER_RANK * ranks.size())
                .hidden(HIDDEN)
                .maxTokensPerRank(TOKENS)
                .topK(TOP_K));
    }

    static Workload work(CrossRanks ranks, Workload.Mask mask, long seed) {
        return Workload.of(
                ranks.size(),
                EXPERTS_PER_RANK * ranks.size(),
                HIDDEN,
                TOP_K,
                TOKENS,
                Workload.Count.ALL_BUT_ONE,
                Workload.Routing.RANDOM,
                mask,
                seed);
    }

    private static ExpertCross.Encoding encoding(ExpertCross.Variant variant) {
        return ExpertCross.Encoding.values()[variant.ordinal()];
    }

    @ParameterizedTest
    @CsvSource({"shm, 2", "shm, 3", "tcp, 2", "tcp, 3"})
    void lowLatencyBringsEveryRankItsTokensAndSums(String transport, int size) {
        try (CrossRanks ranks = CrossRanks.form(transport, size)) {
            createBuffers(ranks);
            variants().forEach(variant -> {
                // the same again and again, and then others
                for (int round = 0; round < ROUNDS; round++) {
                    Workload work = work(ranks, Workload.Mask.SOME, round / 2);
                    new LowLatencyRun(ranks, "low latency, " + variant, work, encoding(variant), variant).round();
                }
            });
        }
    }

    @ParameterizedTest
    @CsvSource({"shm, 2", "shm, 3", "tcp, 2", "tcp, 3"})
    void normalModeBringsEveryRankItsTokensAndSums(String transport, int size) {
        try (CrossRanks ranks = CrossRanks.form(transport, size)) {
            createBuffers(ranks);
            variants().forEach(variant -> {
                for (int round = 0; round < ROUNDS; round++) {
                    Workload work = work(ranks, Workload.Mask.SOME, round / 2);
                    new NormalRun(ranks, "normal mode, " + variant, work, encoding(variant), variant).round();
                }
            });
        }
    }
}
