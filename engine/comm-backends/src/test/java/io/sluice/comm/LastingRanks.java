package io.sluice.comm;

import io.sluice.collectives.Team;
import io.sluice.experts.ExpertRanks;
import org.jspecify.annotations.Nullable;

/** A team that many tests use one after another, until one of them has lost a rank of it. */
final class LastingRanks {
    private @Nullable ExpertRanks formed;

    /** Whether the next test gets new ones. */
    boolean isNew() {
        return formed == null;
    }

    ExpertRanks form(int size) {
        ExpertRanks ranks = formed;
        if (ranks == null) {
            ranks = ExpertRanks.form("shm", size);
            formed = ranks;
        }
        return ranks;
    }

    /** Closes them if they are of no use to the next test. */
    void end(ExpertRanks ranks) {
        if (ranks.each(ranks::team).stream().anyMatch(LastingRanks::isOver)) {
            close();
        }
    }

    private static boolean isOver(Team team) {
        return !team.failed().isEmpty() || team.ended().toCompletableFuture().isDone();
    }

    void close() {
        ExpertRanks ranks = formed;
        formed = null;
        if (ranks != null) {
            ranks.close();
        }
    }
}
