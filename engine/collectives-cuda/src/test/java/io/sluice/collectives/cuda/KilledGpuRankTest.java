package io.sluice.collectives.cuda;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that is killed in the middle of collectives of GPUs. */
class KilledGpuRankTest {
    private static final int MANY = 50;

    @Test
    void theOthersEndWithItsRankAndGoOn() {
        try (KilledGpuRanks ranks = new KilledGpuRanks()) {
            ranks.kill();
        }
    }

    @Test
    @Tag("soak")
    @Timeout(1800)
    void theyDoSoEachTime() {
        try (KilledGpuRanks ranks = new KilledGpuRanks()) {
            for (int i = 0; i < MANY; i++) {
                ranks.kill();
            }
        }
    }
}
