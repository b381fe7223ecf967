package io.sluice.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.sluice.experts.ExpertBuffer;
import io.sluice.experts.ExpertMetrics;
import java.util.ArrayList;
import java.util.List;

/**
 * Exports what an expert buffer counts to Micrometer registries: the meters of {@link EngineMeter} that are {@linkplain
 * EngineMeter#isOfExperts() of experts}; needs {@code sluice-experts}. It adds nothing to the path of a call. Durations are
 * exported as {@link EngineMeters} does, but for the gauges. The tag {@code expert} has zeros in front, so that names sort
 * as numbers do; a rank with more than {@value #MOST_EXPERTS} experts has no meters for each.
 *
 * <p>Bind a buffer once to a registry, and give those of one team different tags. A registry keeps the buffer's metrics until
 * this object is {@linkplain #close() closed}: close it with the buffer. All methods may be called from any thread.
 */
@SuppressWarnings("exports") // Applications with experts require their module; others do without.
public final class ExpertMeters implements MeterBinder, AutoCloseable {
    /** The most experts of a rank that have a meter each. */
    public static final int MOST_EXPERTS = 1024;

    private final ExpertMetrics metrics;
    private final Tags tags;
    private final List<ExpertBinding> bindings = new ArrayList<>();
    private boolean closed;

    ExpertMeters(ExpertMetrics metrics, Tags extra) {
        this.metrics = metrics;
        this.tags = extra.and(EngineMeter.ENGINE_TAG, metrics.engine())
                .and("team", metrics.team())
                .and("rank", Integer.toString(metrics.rank()));
    }

    /**
     * Exports a buffer's meters without further tags.
     *
     * @param buffer the buffer to measure
     * @return the meters, to be bound to a registry
     */
    public static ExpertMeters of(ExpertBuffer buffer) {
        return of(buffer, Tags.empty());
    }

    /**
     * Exports a buffer's meters with further tags.
     *
     * @param buffer the buffer to measure
     * @param more the tags, which should have few values
     * @return the meters, to be bound to a registry
     */
    public static ExpertMeters of(ExpertBuffer buffer, Iterable<Tag> more) {
        return new ExpertMeters(buffer.metrics(), Tags.of(more));
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
                throw new IllegalStateException("the meters are closed; make others with ExpertMeters.of");
            }
            bindings.add(new ExpertBinding(registry, metrics, tags));
        }
    }

    /** Unregisters the meters. A second call does nothing. */
    @Override
    public void close() {
        synchronized (bindings) {
            closed = true;
            bindings.forEach(ExpertBinding::remove);
            bindings.clear();
        }
    }
}
