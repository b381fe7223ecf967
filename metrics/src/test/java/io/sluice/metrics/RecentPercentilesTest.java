package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MockClock;
import io.sluice.engine.LatencyHistogram;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class RecentPercentilesTest {
    private static final long[] BOUNDS = LatencyHistogram.boundsNanos();

    private final MockClock clock = new MockClock();
    private final long[] counts = new long[BOUNDS.length + 1];
    private final RecentPercentiles percentiles =
            new RecentPercentiles(() -> new LatencyHistogram(counts.clone(), 0), clock);

    @Test
    void thereIsNoneOfNothing() {
        assertThat(percentiles.nanos(0.5)).isNaN();
    }

    @Test
    void timesAreSpreadEvenlyWithinABucket() {
        counts[3] = 100;
        assertThat(percentiles.nanos(0)).isEqualTo(BOUNDS[2]);
        assertThat(percentiles.nanos(0.5)).isEqualTo((BOUNDS[2] + BOUNDS[3]) / 2.0);
        assertThat(percentiles.nanos(1)).isEqualTo(BOUNDS[3]);
        counts[0] = 300;
        assertThat(percentiles.nanos(0.5)).isEqualTo(BOUNDS[0] * 2 / 3.0);
        assertThat(percentiles.nanos(0.99)).isBetween((double) BOUNDS[2], (double) BOUNDS[3]);
    }

    @Test
    void whatIsBeyondTheLastBoundIsThatAtLeast() {
        counts[BOUNDS.length] = 1;
        assertThat(percentiles.nanos(0.5)).isEqualTo(BOUNDS[BOUNDS.length - 1]);
    }

    @Test
    void whatIsOldCountsNoMore() {
        counts[9] = 1000;
        assertThat(percentiles.nanos(0.99)).isGreaterThan(BOUNDS[8]);
        clock.add(30, TimeUnit.SECONDS);
        counts[1] = 10;
        assertThat(percentiles.nanos(0.99)).isGreaterThan(BOUNDS[8]);
        clock.add(29, TimeUnit.SECONDS);
        assertThat(percentiles.nanos(0.99)).isGreaterThan(BOUNDS[8]);
        clock.add(1, TimeUnit.SECONDS);
        counts[1] = 20;
        assertThat(percentiles.nanos(0.99)).isBetween((double) BOUNDS[0], (double) BOUNDS[1]);
    }
}
