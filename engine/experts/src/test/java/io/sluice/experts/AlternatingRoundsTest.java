package io.sluice.experts;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Many rounds of different tokens, whose results are poisoned each time. */
class AlternatingRoundsTest {
    private static final int ALL_ROUNDS = 1_000;
    private static final int WORKLOADS = 5;
    private static final int EXPERTS_PER_RANK = 2;
    private static final int HIDDEN = 128;
    private static final int TOP_K = 2;
    private static final int TOKENS = 4;

    @Tag("soak")
    @ParameterizedTest
    @CsvSource({"shm, 2", "tcp, 2", "reordering, 3"})
    void allRoundsOfBothModes(String transport, int size) {
        roundsOfBothModes(transport, size, ALL_ROUNDS);
    }

    @ParameterizedTest
    @CsvSource({"shm, 2, 200", "reordering, 3, 100"})
    void roundsOfBothModes(String transport, int size, int rounds) {
        try (CrossRanks ranks = CrossRanks.form(transport, size)) {
            ranks.createBuffers(ExpertOptions.experts(EXPERTS_PER_RANK * size)
                    .hidden(HIDDEN)
                    .maxTokensPerRank(TOKENS)
                    .topK(TOP_K));
            List<LowLatencyRun> lowLatency = new ArrayList<>();
            List<NormalRun> normal = new ArrayList<>();
            for (int i = 0; i < WORKLOADS; i++) {
                Workload work = Workload.of(
                        size,
                        EXPERTS_PER_RANK * size,
                        HIDDEN,
                        TOP_K,
                        TOKENS,
                        Workload.Count.values()[i],
                        Workload.Routing.RANDOM,
                        Workload.Mask.SOME,
                        i);
                ExpertCross.Variant variant = ExpertCross.Variant.values()[i % ExpertCross.Variant.values().length];
                ExpertCross.Encoding encoding = i % 2 == 0 ? ExpertCross.Encoding.BFLOAT16 : ExpertCross.Encoding.FP8;
                lowLatency.add(new LowLatencyRun(ranks, "low latency " + i, work, encoding, variant));
                normal.add(new NormalRun(ranks, "normal mode " + i, work, encoding, variant));
            }
            for (int round = 0; round < rounds; round++) {
                int work = round / 2 % WORKLOADS;
                if (round % 2 == 0) {
                    lowLatency.get(work).round();
                } else {
                    normal.get(work).round();
                }
            }
        }
    }
}
