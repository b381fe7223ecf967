package io.sluice.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.sluice.collectives.cuda.GpuTeam;
import io.sluice.collectives.cuda.GpuTeamMetrics;
import java.util.ArrayList;
import java.util.List;

/**
 * Exports what a team of GPUs counts to Micrometer registries: the meters of {@link GpuMeter} that are {@linkplain
 * GpuMeter#isOfTeams() of teams}; needs {@code sluice-collectives-cuda}. It adds nothing to the path of a collective. The meters of a
 * kind and algorithm are registered when a registry reads the existing ones after the first such collective was started, so they appear at
 * the next reading.
 *
 * <p>Bind a GPU team once to a registry, and give those of one team different tags. A registry keeps the metrics until this object is
 * {@linkplain #close() closed}: close it with the GPU team. All methods may be called from any thread.
 */
@SuppressWarnings("exports") // Applications with collectives on GPUs require their module; others do without.
public final class GpuTeamMeters implements MeterBinder, AutoCloseable {
    private final GpuTeamMetrics metrics;
    private final Tags tags;
    private final List<GpuTeamBinding> bindings = new ArrayList<>();
    private boolean closed;

    private GpuTeamMeters(GpuTeamMetrics metrics, Tags extra) {
        this.metrics = metrics;
        this.tags = extra.and(EngineMeter.ENGINE_TAG, metrics.engine())
                .and("team", metrics.team())
                .and("rank", Integer.toString(metrics.rank()))
                .and("device", metrics.gpu());
    }

    /**
     * Exports the meters of a GPU team without further tags.
     *
     * @param team what to measure
     * @return the meters, to be bound to a registry
     */
    public static GpuTeamMeters of(GpuTeam team) {
        return of(team, Tags.empty());
    }

    /**
     * Exports the meters of a GPU team with further tags.
     *
     * @param team what to measure
     * @param more the tags, which should have few values
     * @return the meters, to be bound to a registry
     */
    public static GpuTeamMeters of(GpuTeam team, Iterable<Tag> more) {
        return new GpuTeamMeters(team.metrics(), Tags.of(more));
    }

    /**
     * Registers the meters.
     *
     * @param registry any registry
     * @throws IllegalStateException if the meters are closed
     */
    @Override
    public void bindTo(MeterRegistry registry) {
        synchronized (bindings) {
            if (closed) {
                throw new IllegalStateException("the meters are closed; make others with GpuTeamMeters.of");
            }
            bindings.add(new GpuTeamBinding(registry, metrics, tags));
        }
    }

    /** Unregisters the meters. A second call does nothing. */
    @Override
    public void close() {
        synchronized (bindings) {
            closed = true;
            bindings.forEach(GpuTeamBinding::remove);
            bindings.clear();
        }
    }
}
