package io.sluice.collectives;

import java.util.List;
import java.util.OptionalInt;

/**
 * What a team counts on this rank, from its formation on. The loop counts and any thread reads; figures of one moment
 * may be some collectives apart.
 */
public interface TeamMetrics {
    /**
     * Returns the name of this rank's engine.
     *
     * @return as {@link io.sluice.engine.EngineMetrics#engine()}
     */
    String engine();

    /**
     * Returns the team's name.
     *
     * @return as the options give it
     */
    String team();

    /**
     * Returns this rank.
     *
     * @return 0 to {@link #size()} − 1
     */
    int rank();

    /**
     * Returns the number of ranks.
     *
     * @return 1 or more
     */
    int size();

    /**
     * Returns how many ranks are not known to be lost or to have left.
     *
     * @return 1 to {@link #size()}
     */
    int ranksAlive();

    /**
     * Returns the figures of each kind and algorithm that has ended here at least once.
     *
     * @return a list that is not changed any more; its elements are the same objects in each call, and go on counting
     */
    List<CollectiveMetrics> collectives();

    /**
     * Returns how long collectives of this rank have waited for messages of another.
     *
     * @param peer a rank
     * @return nanoseconds
     */
    long waitedNanos(int peer);

    /**
     * Returns how many collectives of this rank have waited for messages of another last.
     *
     * @param peer a rank
     * @return a count
     */
    long lastArrivals(int peer);

    /**
     * Returns the rank for which this one has waited longest. In a ring that is the neighbour, who may wait as well: the
     * rank that holds all others up is the one that itself waits least.
     *
     * @return empty if it has waited for none
     */
    default OptionalInt slowest() {
        int slowest = -1;
        long longest = 0;
        for (int peer = 0; peer < size(); peer++) {
            long waited = waitedNanos(peer);
            if (waited > longest) {
                longest = waited;
                slowest = peer;
            }
        }
        return slowest < 0 ? OptionalInt.empty() : OptionalInt.of(slowest);
    }
}
