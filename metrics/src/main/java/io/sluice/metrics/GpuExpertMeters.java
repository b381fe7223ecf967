package io.sluice.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.sluice.experts.cuda.GpuExpertBuffer;
import io.sluice.experts.cuda.GpuExpertMetrics;
import java.util.ArrayList;
import java.util.List;

/**
 * Exports what an expert buffer on GPUs counts to Micrometer registries: the meters of {@link GpuMeter} that are not {@linkplain
 * GpuMeter#isOfTeams() of teams}; needs {@code sluice-experts-cuda}. It adds nothing to the path of a call.
 *
 * <p>Bind a buffer once to a registry, and give those of one team different tags. A registry keeps the metrics until this object is
 * {@linkplain #close() closed}: close it with the buffer. All methods may be called from any thread.
 */
@SuppressWarnings("exports") // Applications with experts on GPUs require their module; others do without.
public final class GpuExpertMeters implements MeterBinder, AutoCloseable {
    private final GpuExpertMetrics metrics;
    private final Tags tags;
    private final List<GpuExpertBinding> bindings = new ArrayList<>();
    private boolean closed;

    private GpuExpertMeters(GpuExpertMetrics metrics, Tags extra) {
        this.metrics = metrics;
        this.tags = extra.and(EngineMeter.ENGINE_TAG, metrics.engine())
                .and("team", metrics.team())
                .and("rank", Integer.toString(metrics.rank()))
                .and("device", metrics.gpu());
    }

    /**
     * Exports the meters of an expert buffer on GPUs without further tags.
     *
     * @param buffer what to measure
     * @return the meters, to be bound to a registry
     */
    public static GpuExpertMeters of(GpuExpertBuffer buffer) {
        return of(buffer, Tags.empty());
    }

    /**
     * Exports the meters of an expert buffer on GPUs with further tags.
     *
     * @param buffer what to measure
     * @param more the tags, which should have few values
     * @return the meters, to be bound to a registry
     */
    public static GpuExpertMeters of(GpuExpertBuffer buffer, Iterable<Tag> more) {
        return new GpuExpertMeters(buffer.metrics(), Tags.of(more));
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
                throw new IllegalStateException("the meters are closed; make others with GpuExpertMeters.of");
            }
            bindings.add(new GpuExpertBinding(registry, metrics, tags));
        }
    }

    /** Unregisters the meters. A second call does nothing. */
    @Override
    public void close() {
        synchronized (bindings) {
            closed = true;
            bindings.forEach(GpuExpertBinding::remove);
            bindings.clear();
        }
    }
}
