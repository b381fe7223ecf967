package io.sluice.experts.cuda;

import java.util.List;

/**
 * What an expert buffer on GPUs counts on this rank, from its creation on. The thread that starts calls counts, which costs neither a call
 * of the driver nor an allocation, so that there are no durations: a {@link io.sluice.cuda.GpuTimer} measures those. Any thread reads;
 * figures of one moment may be some calls apart.
 */
public interface GpuExpertMetrics {
    /**
     * Returns the name of this rank's engine.
     *
     * @return as {@link io.sluice.engine.EngineMetrics#engine()}
     */
    String engine();

    /**
     * Returns the team's name.
     *
     * @return as {@link io.sluice.collectives.Team#name()}
     */
    String team();

    /**
     * Returns this rank.
     *
     * @return from 0 to the number of ranks minus 1
     */
    int rank();

    /**
     * Returns the GPU of this rank.
     *
     * @return its stable id
     */
    String gpu();

    /**
     * Returns the figures of each kind of call.
     *
     * @return a list that does not change; its elements go on counting
     */
    List<GpuExpertCallMetrics> calls();

    /**
     * Returns how many starts gave the stream one call, its first half, or a layout.
     *
     * @return a count
     */
    long singleStarts();

    /**
     * Returns how many starts gave the stream a graph of calls.
     *
     * @return a count
     */
    long graphStarts();

    /**
     * Returns how many starts threw an exception, those of second halves as well.
     *
     * @return a count
     */
    long refusedStarts();

    /**
     * Returns the number of the work that the stream has done last, of others that use it as well. It does not change while the ranks
     * wait for one that does not come.
     *
     * @return as {@link io.sluice.cuda.GpuStream#reached}
     */
    long reached();

    /**
     * Returns whether calls have failed, so that no later one can succeed. Closing is no failure.
     *
     * @return true from the moment when this process knows it: at the end of a wait, at a start, or when the team ends
     */
    boolean hasFailed();
}
