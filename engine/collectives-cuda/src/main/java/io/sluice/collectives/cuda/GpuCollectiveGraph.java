package io.sluice.collectives.cuda;

import io.sluice.cuda.GpuGraph;
import io.sluice.cuda.GpuWorkFigures.Tally;
import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;
import java.util.concurrent.CompletableFuture;

/**
 * Collectives of a {@link GpuTeam} that follow each other, as one CUDA graph: one call of the driver starts all, and the GPU goes from
 * one to the next in less time. Made by {@link GpuTeam#graph}, started again and again. Any thread, but one at a time starts.
 */
public final class GpuCollectiveGraph implements AutoCloseable {
    private final GpuTeam team;
    private final GpuGraph graph;
    private final int collectives;
    private final Tally tally;

    GpuCollectiveGraph(GpuTeam team, GpuGraph graph, int collectives, Tally tally) {
        this.team = team;
        this.graph = graph;
        this.collectives = collectives;
        this.tally = tally;
    }

    /**
     * Starts all, behind what the team's stream has, as {@link GpuCollective#start} does for one. Allocates nothing and waits for
     * nothing. All ranks start the same collectives in the same order; whether in a graph or one by one makes no difference to others.
     *
     * @return the number of the last one in {@link GpuTeam#stream()}, to wait for by {@link GpuTeam#onReached}; if one of them fails,
     *     those after it do nothing, and the wait ends with the error
     * @throws io.sluice.engine.SluiceException the team's error, if it has ended
     * @throws io.sluice.cuda.GpuClosedException if this, the team or one of the regions is closed here
     * @throws io.sluice.engine.TooManyPendingException if too many launches are under way, see {@link GpuGraph#submit}. Nothing was
     *     started
     * @throws io.sluice.cuda.CudaException if the driver refuses the launch
     * @throws IllegalStateException if two threads start collectives of a team at the same time
     */
    public long start() {
        return start(true);
    }

    /**
     * Starts all as {@link #start} does; the number counts as reached with that of a later one, see {@link GpuGraph#submitUnnumbered}.
     *
     * @return the number of the last one in {@link GpuTeam#stream()}
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #start}
     */
    public long startUnnumbered() {
        return start(false);
    }

    private long start(boolean isNumbered) {
        long number;
        try {
            number = team.submit(graph, isNumbered);
        } catch (RuntimeException e) {
            team.counters().refused();
            throw e;
        }
        team.counters().started(tally, number);
        return number;
    }

    /**
     * Returns a wait for the numbers of starts, as {@link GpuTeam#onReached} does.
     *
     * @param callback as there
     * @return the wait, not armed
     */
    public SignalWait onReached(SignalCallback callback) {
        return team.onReached(callback);
    }

    /**
     * Returns how many collectives a start runs.
     *
     * @return 1 or more
     */
    public int collectives() {
        return collectives;
    }

    /** Refuses further starts, and gives the graph back once those that were started are done; returns before that. */
    @Override
    public void close() {
        closeAsync();
    }

    /**
     * Closes it.
     *
     * @return completes when the driver has the graph no more; a second call has the same result
     */
    public CompletableFuture<Void> closeAsync() {
        graph.close();
        team.forget(this);
        return graph.released();
    }

    @Override
    public String toString() {
        return "a graph of " + collectives + " collectives of " + team;
    }
}
