package io.sluice.samples.report;

import org.HdrHistogram.AbstractHistogram;

/**
 * How long transfers took, in milliseconds; all 0 if there were none.
 *
 * @param p50 half of them took at most this long
 * @param p90 nine in ten took at most this long
 * @param p99 99 in a hundred took at most this long
 * @param max the longest
 */
public record TransferMillis(double p50, double p90, double p99, double max) {

    private static final double NANOS_PER_MILLI = 1e6;

    /** The percentiles of recorded durations in nanoseconds. */
    public static TransferMillis of(AbstractHistogram nanos) {
        return new TransferMillis(
                percentile(nanos, 50),
                percentile(nanos, 90),
                percentile(nanos, 99),
                nanos.getMaxValue() / NANOS_PER_MILLI);
    }

    private static double percentile(AbstractHistogram nanos, double percentile) {
        return nanos.getValueAtPercentile(percentile) / NANOS_PER_MILLI;
    }
}
