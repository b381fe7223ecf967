package io.sluice.reactor.observation;

import io.micrometer.observation.Observation;
import io.sluice.collectives.Algorithm;
import io.sluice.collectives.Collective;
import io.sluice.collectives.CollectiveKind;
import io.sluice.collectives.Team;
import org.jspecify.annotations.Nullable;

/** The facts about an observed collective, for conventions and handlers. Thread-safe. */
@SuppressWarnings("exports") // Applications that observe require the modules of these types; others do without.
public final class CollectiveContext extends Observation.Context {
    private final Team team;
    private final CollectiveKind kind;
    private volatile @Nullable Collective ended;
    private final CallWork work = new CallWork() {
        @Override
        public void emitted(Object value) {
            if (value instanceof Collective collective) {
                ended = collective;
            }
        }
    };

    CollectiveContext(Team team, CollectiveKind kind) {
        this.team = team;
        this.kind = kind;
    }

    /**
     * Returns the team.
     *
     * @return the team, with its name and this rank
     */
    public Team team() {
        return team;
    }

    /**
     * Returns the kind of collective.
     *
     * @return the kind
     */
    public CollectiveKind kind() {
        return kind;
    }

    /**
     * Returns the algorithm.
     *
     * @return {@link Algorithm#AUTO} unless the collective has ended with success
     */
    public Algorithm algorithm() {
        Collective collective = ended;
        return collective == null ? Algorithm.AUTO : collective.algorithm();
    }

    /**
     * Returns how many bytes this rank has received from others.
     *
     * @return bytes; 0 unless the collective has ended with success
     */
    public long bytes() {
        Collective collective = ended;
        return collective == null ? 0 : collective.totalBytes();
    }

    /**
     * Returns the outcome.
     *
     * @return {@link TransferOutcome#UNKNOWN} until the collective has ended or its subscriber has cancelled
     */
    public TransferOutcome outcome() {
        return work.outcome();
    }

    ObservedWork work() {
        return work;
    }
}
