package io.sluice.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.sluice.collectives.Team;
import io.sluice.collectives.TeamMetrics;
import java.util.ArrayList;
import java.util.List;

/**
 * Exports what a team counts to Micrometer registries: the meters of {@link EngineMeter} that are {@linkplain
 * EngineMeter#isOfTeams() of teams}; needs {@code sluice-collectives}. It adds nothing to the path of a collective. The
 * meters of a kind and algorithm are registered when a registry reads the existing ones after the first such collective
 * has ended, so they appear at the next reading. Durations are exported as {@link EngineMeters} does, but for the gauges.
 *
 * <p>Give teams names of their own, and bind a team once to a registry. A registry keeps the team's metrics until this
 * object is {@linkplain #close() closed}: close it with the team. All methods may be called from any thread.
 */
@SuppressWarnings("exports") // Applications with collectives require their module; others do without.
public final class TeamMeters implements MeterBinder, AutoCloseable {
    private final TeamMetrics metrics;
    private final Tags tags;
    private final List<TeamBinding> bindings = new ArrayList<>();
    private boolean closed;

    TeamMeters(TeamMetrics metrics, Tags extra) {
        this.metrics = metrics;
        this.tags = extra.and(EngineMeter.ENGINE_TAG, metrics.engine())
                .and("team", metrics.team())
                .and("rank", Integer.toString(metrics.rank()));
    }

    /**
     * Exports a team's meters without further tags.
     *
     * @param team the team to measure
     * @return the meters, to be bound to a registry
     */
    public static TeamMeters of(Team team) {
        return of(team, Tags.empty());
    }

    /**
     * Exports a team's meters with further tags.
     *
     * @param team the team to measure
     * @param more the tags, which should have few values
     * @return the meters, to be bound to a registry
     */
    public static TeamMeters of(Team team, Iterable<Tag> more) {
        return new TeamMeters(team.metrics(), Tags.of(more));
    }

    /**
     * Registers the meters.
     *
     * @param registry any registry; the present members of a composite registry get the histograms, later members do
     *     not
     * @throws IllegalStateException if the meters are closed
     */
    @Override
    public void bindTo(MeterRegistry registry) {
        synchronized (bindings) {
            if (closed) {
                throw new IllegalStateException("the meters are closed; make others with TeamMeters.of");
            }
            bindings.add(new TeamBinding(registry, metrics, tags));
        }
    }

    /** Unregisters the meters. A second call does nothing. */
    @Override
    public void close() {
        synchronized (bindings) {
            closed = true;
            bindings.forEach(TeamBinding::remove);
            bindings.clear();
        }
    }
}
