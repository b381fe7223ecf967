package io.sluice.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.engine.LatencyHistogram;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LatencyBucketsTest {
    private static final long[] BOUNDS = LatencyHistogram.boundsNanos();

    /** The first whose bound is not exceeded. */
    private static int slowly(long nanos) {
        int index = 0;
        while (index < BOUNDS.length && nanos > BOUNDS[index]) {
            index++;
        }
        return index;
    }

    private static void assertIndex(long nanos) {
        assertThat(LatencyBuckets.indexOf(nanos)).as("%d ns", nanos).isEqualTo(slowly(nanos));
    }

    @Test
    void boundsAreOneTwoFiveFromAMicrosecondToTenSeconds() {
        assertThat(BOUNDS)
                .startsWith(1_000, 2_000, 5_000, 10_000, 20_000)
                .endsWith(1_000_000_000L, 2_000_000_000L, 5_000_000_000L, 10_000_000_000L)
                .hasSize(22)
                .isSorted();
        assertThat(LatencyBuckets.COUNT).isEqualTo(23);
        long[] mine = LatencyHistogram.boundsNanos();
        mine[0] = 0;
        assertThat(LatencyHistogram.boundsNanos()[0]).isEqualTo(1_000);
    }

    @Test
    void eachShortTimeHasItsBucket() {
        for (long nanos = 0; nanos <= 300_000; nanos++) {
            if (LatencyBuckets.indexOf(nanos) != slowly(nanos)) {
                assertIndex(nanos);
            }
        }
    }

    @Test
    void timesAroundEachBoundAndEachPowerOfTwoHaveTheirBuckets() {
        for (long bound : BOUNDS) {
            for (long nanos = bound - 3; nanos <= bound + 3; nanos++) {
                assertIndex(nanos);
            }
        }
        for (int shift = 0; shift < Long.SIZE - 1; shift++) {
            for (long nanos = (1L << shift) - 1; nanos <= (1L << shift) + 1; nanos++) {
                assertIndex(nanos);
            }
        }
    }

    @Test
    void randomTimesHaveTheirBuckets() {
        Random random = new Random(6);
        for (int i = 0; i < 100_000; i++) {
            assertIndex(random.nextLong() >>> random.nextInt(1, Long.SIZE));
        }
    }

    @Test
    void extremesHaveTheOutermostBuckets() {
        for (long nanos : List.of(-1L, Long.MIN_VALUE, 0L, 1L, 1_000L)) {
            assertThat(LatencyBuckets.indexOf(nanos)).isZero();
        }
        assertThat(LatencyBuckets.indexOf(10_000_000_000L)).isEqualTo(21);
        assertThat(LatencyBuckets.indexOf(10_000_000_001L)).isEqualTo(22);
        assertThat(LatencyBuckets.indexOf(Long.MAX_VALUE)).isEqualTo(22);
    }

    @Test
    void countOfAHistogramIsThatOfItsBuckets() {
        long[] counts = new long[LatencyBuckets.COUNT];
        Arrays.setAll(counts, i -> i);
        assertThat(new LatencyHistogram(counts, 5).count()).isEqualTo(22 * 23 / 2);
    }
}
