package io.sluice.engine.bootstrap;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class RefusalLogTest {
    @Test
    void aFewLinesASecondAndHowManyWereLeftOut() {
        RefusalLog log = new RefusalLog(LoggerFactory.getLogger(RefusalLogTest.class), 0);
        int lines = 0;
        for (int i = 0; i < 1000; i++) {
            lines += log.takeLine(i) >= 0 ? 1 : 0;
        }
        assertThat(lines).isEqualTo(4);
        assertThat(log.takeLine(1_000_000_000L)).isEqualTo(996);
        assertThat(log.takeLine(1_000_000_001L)).isZero();
    }
}
