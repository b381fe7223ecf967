package io.sluice.experts;

import java.util.List;
import java.util.OptionalInt;

/**
 * The figures of an expert buffer on this rank, from its creation on. The loop counts and any thread reads; figures of one
 * moment may be some calls apart.
 */
public interface ExpertMetrics {
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
     * @return 0 to {@link #ranks()} − 1
     */
    int rank();

    /**
     * Returns the number of ranks.
     *
     * @return 1 or more
     */
    int ranks();

    /**
     * Returns the number of experts of all ranks.
     *
     * @return 1 or more
     */
    int experts();

    /**
     * Returns the number of experts of this rank, which begin with {@link #rank()} times this number.
     *
     * @return 1 or more
     */
    int localExperts();

    /**
     * Returns the figures of each kind of call that the buffer has.
     *
     * @return a list that does not change; its elements go on counting
     */
    List<ExpertCallMetrics> calls();

    /**
     * Returns how many tokens dispatches of both modes have brought to an expert.
     *
     * @param localExpert 0 to {@link #localExperts()} − 1
     * @return a count
     */
    long load(int localExpert);

    /**
     * Returns the tokens of the expert that had most of them, of each dispatch, added up. Over the mean {@link #load} it is
     * the skew between the experts of this rank: 1 if all get as many.
     *
     * @return a count
     */
    long busiestLoad();

    /**
     * Returns how long calls of this rank have waited for another. With several to wait for it is the last one that counts.
     *
     * @param peer a rank
     * @return nanoseconds
     */
    long waitedNanos(int peer);

    /**
     * Returns how many calls of this rank have waited for another last.
     *
     * @param peer a rank
     * @return a count
     */
    long lastArrivals(int peer);

    /**
     * Returns the rank for which this one has waited longest.
     *
     * @return empty if it has waited for none
     */
    default OptionalInt slowest() {
        int slowest = -1;
        long longest = 0;
        for (int peer = 0; peer < ranks(); peer++) {
            long waited = waitedNanos(peer);
            if (waited > longest) {
                longest = waited;
                slowest = peer;
            }
        }
        return slowest < 0 ? OptionalInt.empty() : OptionalInt.of(slowest);
    }
}
