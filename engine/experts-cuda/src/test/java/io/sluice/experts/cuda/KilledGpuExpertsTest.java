package io.sluice.experts.cuda;

import io.sluice.testkit.FuzzSeed;
import io.sluice.testkit.Patience;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that is killed in the middle of dispatches and combines of GPUs. */
class KilledGpuExpertsTest {
    private static final int MANY = 48;

    private static KilledGpuExperts pairs(boolean isMapped) {
        return new KilledGpuExperts(FuzzSeed.of("KilledGpuExpertsTest").random(), isMapped);
    }

    @Test
    void the_other_rank_ends_with_an_error_that_names_it_and_forms_the_next_pair() {
        try (KilledGpuExperts pairs = pairs(true)) {
            pairs.kill(1, ExpertRounds.Mode.LOW_LATENCY);
            pairs.kill(0, ExpertRounds.Mode.GRAPH);
            pairs.kill(1, ExpertRounds.Mode.NORMAL);
        }
    }

    @Test
    @Tag("soak")
    @Timeout(1800)
    void it_does_so_each_time_where_the_host_carries_rows() {
        SoftGpuCounts.assumeSoftware();
        ExpertRounds.Mode[] modes = {ExpertRounds.Mode.LOW_LATENCY, ExpertRounds.Mode.GRAPH};
        try (KilledGpuExperts pairs = pairs(false)) {
            for (int victim = 0; victim < KilledGpuExperts.RANKS; victim++) {
                pairs.kill(victim, ExpertRounds.Mode.LOW_LATENCY);
            }
            List<Long> before = SoftGpuCounts.all();
            for (int i = 0; i < MANY / 2; i++) {
                pairs.kill(i % KilledGpuExperts.RANKS, modes[i / KilledGpuExperts.RANKS % modes.length]);
                Patience.until("no more objects than before", () -> SoftGpuCounts.areAtMost(before));
            }
        }
    }

    @Test
    @Tag("soak")
    @Timeout(1800)
    void it_does_so_each_time_and_keeps_nothing() {
        SoftGpuCounts.assumeSoftware();
        ExpertRounds.Mode[] modes = ExpertRounds.Mode.values();
        try (KilledGpuExperts pairs = pairs(true)) {
            for (int victim = 0; victim < KilledGpuExperts.RANKS; victim++) {
                pairs.kill(victim, ExpertRounds.Mode.NORMAL);
            }
            List<Long> before = SoftGpuCounts.all();
            for (int i = 0; i < MANY; i++) {
                pairs.kill(i % KilledGpuExperts.RANKS, modes[i / KilledGpuExperts.RANKS % modes.length]);
                Patience.until("no more objects than before", () -> SoftGpuCounts.areAtMost(before));
            }
        }
    }
}
