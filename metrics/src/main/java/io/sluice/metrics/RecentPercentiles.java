package io.sluice.metrics;

import io.micrometer.core.instrument.Clock;
import io.sluice.engine.LatencyHistogram;
import java.time.Duration;
import java.util.Arrays;
import java.util.function.Supplier;

/**
 * Estimates percentiles of recent counts of a histogram: since the kept reading before the last. Kept readings are half
 * a minute apart, or as far apart as reads if these are rarer. Thread-safe.
 */
final class RecentPercentiles {
    private static final long INTERVAL_NANOS = Duration.ofSeconds(30).toNanos();
    private static final long[] BOUNDS = LatencyHistogram.boundsNanos();

    private final Supplier<LatencyHistogram> histogram;
    private final Clock clock;
    private long[] before = new long[BOUNDS.length + 1];
    private long[] next = before;
    private long nextAt;

    /**
     * Creates estimates over all counts so far and from now on.
     *
     * @param histogram takes a snapshot
     * @param clock measures the time between readings
     */
    RecentPercentiles(Supplier<LatencyHistogram> histogram, Clock clock) {
        this.histogram = histogram;
        this.clock = clock;
        this.nextAt = clock.monotonicTime();
    }

    /**
     * Returns an estimate, which assumes that times are evenly spread within a bucket.
     *
     * @param phi the quantile, from 0 to 1
     * @return nanoseconds, at most the last bucket's lower bound; NaN if nothing was counted
     */
    synchronized double nanos(double phi) {
        long[] counts = histogram.get().counts();
        long now = clock.monotonicTime();
        if (now - nextAt >= INTERVAL_NANOS) {
            before = next;
            next = counts;
            nextAt = now;
        }
        long[] recent = new long[counts.length];
        Arrays.setAll(recent, bucket -> counts[bucket] - before[bucket]);
        return nanos(phi, recent);
    }

    private static double nanos(double phi, long[] counts) {
        double rank = phi * Arrays.stream(counts).sum();
        long below = 0;
        for (int bucket = 0; bucket < BOUNDS.length; bucket++) {
            long count = counts[bucket];
            if (count > 0 && below + count >= rank) {
                long lower = bucket == 0 ? 0 : BOUNDS[bucket - 1];
                return lower + (BOUNDS[bucket] - lower) * (rank - below) / count;
            }
            below += count;
        }
        return counts[BOUNDS.length] > 0 ? BOUNDS[BOUNDS.length - 1] : Double.NaN;
    }
}
