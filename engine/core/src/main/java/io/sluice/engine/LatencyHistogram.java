package io.sluice.engine;

/**
 * A snapshot of durations: how many fell into each of a fixed list of buckets, and their sum.
 *
 * @param counts a count for each of {@link #boundsNanos()} and a last one for longer durations; not cumulative
 * @param sumNanos the sum of all durations, in nanoseconds
 */
@SuppressWarnings("ArrayRecordComponent") // a snapshot that is never compared
public record LatencyHistogram(long[] counts, long sumNanos) {
    private static final long[] BOUNDS = bounds();

    private static long[] bounds() {
        long[] bounds = new long[22];
        long decade = 1_000;
        for (int i = 0; i < bounds.length; i++) {
            bounds[i] = decade * (i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 5);
            decade *= i % 3 == 2 ? 10 : 1;
        }
        return bounds;
    }

    /**
     * Returns the inclusive upper bounds of the buckets: 1, 2 and 5 µs and so on to 10 s.
     *
     * @return nanoseconds, ascending
     */
    public static long[] boundsNanos() {
        return BOUNDS.clone();
    }

    /**
     * Returns the number of durations.
     *
     * @return the sum of the counts
     */
    public long count() {
        long count = 0;
        for (long one : counts) {
            count += one;
        }
        return count;
    }
}
