package io.sluice.engine.flow;

import io.sluice.engine.LatencyHistogram;
import java.util.Arrays;

/** Finds the bucket of a time. */
final class LatencyBuckets {
    // and a last one, which nothing exceeds
    private static final long[] BOUNDS = bounds();

    /** The number of buckets: one for each bound, and one for longer times. */
    static final int COUNT = BOUNDS.length;

    // by the number of leading zeros: how many bounds the least such time exceeds
    private static final byte[] LEAST = least();

    private LatencyBuckets() {}

    private static long[] bounds() {
        long[] bounds = LatencyHistogram.boundsNanos();
        long[] all = Arrays.copyOf(bounds, bounds.length + 1);
        all[bounds.length] = Long.MAX_VALUE;
        return all;
    }

    private static byte[] least() {
        byte[] least = new byte[Long.SIZE + 1];
        // negative times and 0 have no bucket
        for (int zeros = 1; zeros < Long.SIZE; zeros++) {
            long time = 1L << (Long.SIZE - 1 - zeros);
            while (BOUNDS[least[zeros]] < time) {
                least[zeros]++;
            }
        }
        return least;
    }

    /**
     * Returns the bucket of a time. Each bound is at least twice the previous one, so the times with the same number of
     * leading zeros have at most one bound, and one comparison suffices.
     *
     * @param nanos less than 0 counts as 0
     * @return from 0 to {@link #COUNT} − 1
     */
    static int indexOf(long nanos) {
        int index = LEAST[Long.numberOfLeadingZeros(nanos)];
        return nanos > BOUNDS[index] ? index + 1 : index;
    }
}
