package io.sluice.collectives.cuda;

import io.sluice.collectives.CollectiveKind;
import io.sluice.cuda.GpuWork;
import io.sluice.cuda.GpuWorkFigures.Tally;
import io.sluice.engine.SignalCallback;
import io.sluice.engine.SignalWait;

/**
 * A collective of a {@link GpuTeam} that was checked and prepared, and is started again and again. The garbage collector frees it.
 */
public final class GpuCollective {
    private final GpuTeam team;
    private final CollectiveKind kind;
    private final GpuAlgorithm algorithm;
    private final GpuWork work;
    private final Tally tally;
    private final Tally single;

    /**
     * Makes it.
     *
     * @param bytes its size, as metrics count it
     */
    GpuCollective(GpuTeam team, CollectiveKind kind, GpuAlgorithm algorithm, long bytes, GpuWork work) {
        this.team = team;
        this.kind = kind;
        this.algorithm = algorithm;
        this.work = work;
        this.tally = GpuTeamCounters.tally(kind, algorithm, bytes);
        this.single = GpuTeamCounters.single(tally);
    }

    /**
     * Starts it: gives its kernels to the team's stream, behind what the stream has. Allocates nothing and waits for nothing, so that a
     * poller may call it. One thread of a team starts collectives at a time, and all ranks start them in the same order.
     *
     * @return the number of its work in {@link GpuTeam#stream()}, to wait for by {@link GpuTeam#onReached}
     * @throws io.sluice.engine.SluiceException the team's error, if it has ended
     * @throws io.sluice.cuda.GpuClosedException if the team or one of its regions is closed here
     * @throws io.sluice.engine.TooManyPendingException if {@link GpuWork#MOST_LAUNCHES} launches are under way. Nothing was started
     * @throws io.sluice.cuda.CudaException if the driver refuses a launch
     * @throws IllegalStateException if two threads start collectives of a team at the same time
     */
    public long start() {
        return start(true);
    }

    /**
     * Starts it as {@link #start} does, for collectives that follow each other: its number counts as reached with that of a later one,
     * see {@link GpuWork#submitUnnumbered}.
     *
     * @return the number of its work in {@link GpuTeam#stream()}
     * @throws io.sluice.engine.SluiceException as for {@link #start}
     * @throws IllegalStateException as for {@link #start}
     */
    public long startUnnumbered() {
        return start(false);
    }

    private long start(boolean isNumbered) {
        long number;
        try {
            number = team.submit(work, isNumbered);
        } catch (RuntimeException e) {
            team.counters().refused();
            throw e;
        }
        team.counters().started(single, number);
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

    GpuTeam team() {
        return team;
    }

    /** What it counts in a graph. */
    Tally tally() {
        return tally;
    }

    GpuWork work() {
        return work;
    }

    /**
     * Returns the kind of the collective.
     *
     * @return the kind
     */
    public CollectiveKind kind() {
        return kind;
    }

    /**
     * Returns how the bytes go.
     *
     * @return the algorithm, which follows from {@link GpuTeamOptions}, the kind, its length and its offsets
     */
    public GpuAlgorithm algorithm() {
        return algorithm;
    }
}
