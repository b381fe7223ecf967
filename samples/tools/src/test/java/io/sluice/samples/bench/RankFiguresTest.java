package io.sluice.samples.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.List;
import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;

class RankFiguresTest {
    private static RankFigures figures(long latency) {
        Histogram latencies = new Histogram(1, 1_000_000, 3);
        latencies.recordValue(latency);
        return new RankFigures(10, 1, 5, 7, latencies);
    }

    @Test
    void theLatenciesOfAllAreThoseOfTheFirstToo() {
        Histogram all = RankFigures.latencies(List.of(figures(3), figures(1), figures(2)));
        assertThat(all.getTotalCount()).isEqualTo(3);
        assertThat(all.getMaxValue()).isEqualTo(3);
        assertThat(all.getMinValue()).isEqualTo(1);
    }

    @Test
    void anotherProcessReadsThemAsTheyWere() {
        RankFigures told = figures(1_234);
        assertThat(RankFigures.decoded(ByteBuffer.wrap(told.encoded()))).isEqualTo(told);
    }
}
