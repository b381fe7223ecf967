package io.sluice.collectives.cuda;

import java.util.List;

/**
 * What a GPU team counts on this rank, from its formation on. The thread that starts collectives counts, which costs neither a call of the
 * driver nor an allocation, so that there are no durations: a {@link io.sluice.cuda.GpuTimer} measures those. Any thread reads; figures of
 * one moment may be some collectives apart.
 */
public interface GpuTeamMetrics {
    /**
     * Returns the name of this rank's engine.
     *
     * @return as {@link io.sluice.engine.EngineMetrics#engine()}
     */
    String engine();

    /**
     * Returns the team's name.
     *
     * @return as {@link io.sluice.collectives.TeamMetrics#team()}
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
     * Returns the figures of each kind and algorithm of which at least one was started here.
     *
     * @return a list that is not changed any more; its elements are the same objects in each call, and go on counting
     */
    List<GpuCollectiveMetrics> collectives();

    /**
     * Returns how many starts gave the stream one collective.
     *
     * @return a count
     */
    long singleStarts();

    /**
     * Returns how many starts gave the stream a graph of collectives.
     *
     * @return a count
     */
    long graphStarts();

    /**
     * Returns how many starts threw an exception.
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
     * Returns whether collectives have failed, so that no later one can succeed. Closing is no failure.
     *
     * @return true from the moment when this process knows it: at the end of a wait, at a start, or when the team ends
     */
    boolean hasFailed();
}
