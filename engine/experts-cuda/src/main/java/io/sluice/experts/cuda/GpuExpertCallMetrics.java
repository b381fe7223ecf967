package io.sluice.experts.cuda;

import io.sluice.experts.ExpertCallKind;

/** What a rank has counted of the calls of one kind on GPUs. Any thread reads. */
public interface GpuExpertCallMetrics {
    /**
     * Returns the kind.
     *
     * @return the kind
     */
    ExpertCallKind kind();

    /**
     * Returns how many were started, in graphs as well. One in halves counts with its first half.
     *
     * @return a count
     */
    long started();

    /**
     * Returns how many of them the stream is through with. Once a call has failed, those behind it do nothing and are counted all the
     * same: see {@link GpuExpertMetrics#hasFailed}. Those that were started without numbers count with a later one.
     *
     * @return a count
     */
    long ended();

    /**
     * Returns how many are waiting in the stream, running, or between their halves; those whose second half can start no more, as the
     * buffer has failed, stay.
     *
     * @return {@link #started} without {@link #ended}
     */
    long inFlight();

    /**
     * Returns how many tokens of this rank those that were started have dispatched or combined. How many vectors that makes, and how many
     * have come from other ranks, the GPU knows alone.
     *
     * @return a count
     */
    long tokens();
}
