package io.sluice.experts;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/** There are two results of each mode at most; which of them is closed first makes no difference. */
class LiveResultsTest {
    private static final int SIZE = 2;

    private static List<Workload> works(CrossRanks ranks) {
        return List.of(
                EveryFormTest.work(ranks, Workload.Mask.NONE, 1),
                EveryFormTest.work(ranks, Workload.Mask.SOME, 2),
                EveryFormTest.work(ranks, Workload.Mask.WHOLE_TOKENS, 3));
    }

    @Test
    void aThirdResultOfNormalModeIsRefused() {
        try (CrossRanks ranks = CrossRanks.form("shm", SIZE)) {
            EveryFormTest.createBuffers(ranks);
            List<NormalRun> runs = works(ranks).stream()
                    .map(work -> new NormalRun(
                            ranks, "normal mode", work, ExpertCross.Encoding.BFLOAT16, ExpertCross.Variant.PLAIN))
                    .toList();
            List<NormalResult> first = runs.get(0).dispatch();
            List<NormalResult> second = runs.get(1).dispatch();
            assertThatThrownBy(() -> runs.get(2).dispatch()).isInstanceOf(TooManyLiveResultsException.class);
            runs.get(1).combine(second);
            List<NormalResult> third = runs.get(2).dispatch();
            assertThatThrownBy(() -> runs.get(1).dispatch()).isInstanceOf(TooManyLiveResultsException.class);
            runs.get(2).combine(third);
            // while the first one is live
            runs.get(1).round();
            runs.get(2).round();
            runs.get(0).combine(first);
            runs.get(0).round();
        }
    }

    @Test
    void aThirdResultOfLowLatencyIsRefused() {
        try (CrossRanks ranks = CrossRanks.form("shm", SIZE)) {
            EveryFormTest.createBuffers(ranks);
            List<LowLatencyRun> runs = works(ranks).stream()
                    .map(work -> new LowLatencyRun(
                            ranks, "low latency", work, ExpertCross.Encoding.BFLOAT16, ExpertCross.Variant.PLAIN))
                    .toList();
            List<LowLatencyResult> first = runs.get(0).dispatch();
            List<LowLatencyResult> second = runs.get(1).dispatch();
            assertThatThrownBy(() -> runs.get(2).dispatch()).isInstanceOf(TooManyLiveResultsException.class);
            runs.get(1).combine(second);
            List<LowLatencyResult> third = runs.get(2).dispatch();
            runs.get(2).combine(third);
            // while the first one is live
            runs.get(1).round();
            runs.get(0).combine(first);
            runs.get(0).round();
        }
    }
}
