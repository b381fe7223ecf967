package io.sluice.collectives;

import java.util.List;

/**
 * A team's counters, with its names.
 *
 * @param engine the name of its engine
 */
record CountedTeam(String engine, Team of, TeamFigures figures) implements TeamMetrics {
    @Override
    public String team() {
        return of.name();
    }

    @Override
    public int rank() {
        return of.rank();
    }

    @Override
    public int size() {
        return of.size();
    }

    @Override
    public int ranksAlive() {
        return of.size() - of.failed().size();
    }

    @Override
    public List<CollectiveMetrics> collectives() {
        return figures.collectives();
    }

    @Override
    public long waitedNanos(int peer) {
        return figures.waits().nanos(peer);
    }

    @Override
    public long lastArrivals(int peer) {
        return figures.waits().lasts(peer);
    }
}
