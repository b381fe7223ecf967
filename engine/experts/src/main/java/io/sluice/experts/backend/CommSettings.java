package io.sluice.experts.backend;

import io.sluice.collectives.Team;
import java.util.Objects;

/**
 * Settings with which a back end is opened.
 *
 * @param team the ranks; a back end with transports of its own may use it for control alone
 * @param uniqueId as rank 0 has drawn it
 * @param lowLatency whether short messages matter most
 * @param queuePairs how many independent channels to each rank are of use, at least 1
 */
public record CommSettings(Team team, byte[] uniqueId, boolean lowLatency, int queuePairs) {
    /** Checks for null and the range. */
    public CommSettings {
        Objects.requireNonNull(team, "team");
        Objects.requireNonNull(uniqueId, "uniqueId");
        if (queuePairs < 1) {
            throw new IllegalArgumentException("there is at least one queue pair, not " + queuePairs);
        }
    }
}
