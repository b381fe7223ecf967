package io.sluice.collectives;

import io.sluice.engine.LatencyHistogram;

/** What a rank has counted of the collectives of one kind and algorithm. Any thread reads. */
public interface CollectiveMetrics {
    /**
     * Returns the kind.
     *
     * @return the kind
     */
    CollectiveKind kind();

    /**
     * Returns the algorithm.
     *
     * @return never {@link Algorithm#AUTO}
     */
    Algorithm algorithm();

    /**
     * Returns how many have ended with success.
     *
     * @return a count
     */
    long succeeded();

    /**
     * Returns how many have ended with an error.
     *
     * @return a count
     */
    long failed();

    /**
     * Returns the size of those that succeeded, as benchmarks of collectives count it: the elements of a rank where all
     * have as many, or the blocks of all ranks together. Where a rank does not know the others' blocks, it counts them
     * as its own.
     *
     * @return bytes
     */
    long bytes();

    /**
     * Returns the bytes that those must move over the link of a rank at least: {@link #bytes()} times 2(n − 1)/n for an
     * all-reduce, (n − 1)/n where blocks are scattered, gathered or exchanged, 1 for others. Divided by the duration it
     * is the bus bandwidth.
     *
     * @return bytes
     */
    long busBytes();

    /**
     * Returns how long those took, from the call to the end.
     *
     * @return a snapshot
     */
    LatencyHistogram duration();

    /**
     * Returns the part of all durations, also of those that failed, in which nothing could go on before a message of
     * another rank. Sends and receives count none.
     *
     * @return nanoseconds
     */
    long waitingNanos();

    /**
     * Returns the part of all durations before the first step: for earlier collectives, a start event or the loop.
     *
     * @return nanoseconds
     */
    long queuedNanos();

    /**
     * Returns the rest of all durations: bytes were moved, copied or reduced.
     *
     * @return nanoseconds
     */
    long movingNanos();
}
