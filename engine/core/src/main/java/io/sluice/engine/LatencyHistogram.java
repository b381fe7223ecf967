package io.sluice.engine;

/**
 * A snapshot of how long something took: how many times fell into each of a fixed row of buckets, and their sum.
 *
 * @param counts one for each of {@link #boundsNanos()}, and a last one for what took longer; not accumulated
 * @param sumNanos of all of them, nanoseconds
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
     * The upper bounds of the buckets, each included: 1, 2 and 5 µs and so on to 10 s.
     *
     * @return nanoseconds, rising
     */
    public static long[] boundsNanos() {
        return BOUNDS.clone();
    }

    /**
     * How many there were.
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
