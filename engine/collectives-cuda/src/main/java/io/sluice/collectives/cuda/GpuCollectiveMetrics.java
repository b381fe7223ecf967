package io.sluice.collectives.cuda;

import io.sluice.collectives.CollectiveKind;

/** What a rank has counted of the GPU collectives of one kind of one algorithm. Any thread reads. */
public interface GpuCollectiveMetrics {
    /**
     * Returns the kind.
     *
     * @return the kind
     */
    CollectiveKind kind();

    /**
     * Returns how the bytes go.
     *
     * @return as {@link GpuCollective#algorithm}
     */
    GpuAlgorithm algorithm();

    /**
     * Returns how many were started, in graphs as well.
     *
     * @return a count
     */
    long started();

    /**
     * Returns how many of them the stream is through with. Once a collective has failed, those behind it do nothing and are counted all
     * the same: see {@link GpuTeamMetrics#hasFailed}. Those that were started without numbers count with
     * a later one.
     *
     * @return a count
     */
    long ended();

    /**
     * Returns how many are waiting in the stream or running.
     *
     * @return {@link #started} without {@link #ended}
     */
    long inFlight();

    /**
     * Returns the size of those that were started, as {@link io.sluice.collectives.CollectiveMetrics#bytes} counts it: the elements of a
     * rank, or the blocks of all ranks together.
     *
     * @return bytes
     */
    long bytes();
}
