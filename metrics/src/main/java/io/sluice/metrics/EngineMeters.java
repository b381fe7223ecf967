package io.sluice.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.sluice.engine.EngineMetrics;
import io.sluice.engine.TransferEngine;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Exports an engine's metrics to Micrometer registries: all meters of {@link EngineMeter}. It adds nothing to the path
 * of a transfer: a registry reads the pollers' counters when it is scraped or publishes.
 *
 * <p>A Prometheus registry, also as a present member of a composite registry, gets the durations as true histograms
 * from 1 µs to 10 s, by a separate collector: no {@code Timer} may have one of their names. Any other registry gets a
 * function timer for each, with count and sum, and gauges called {@code .percentile} with the tag {@code phi}:
 * estimates over the last half to one minute, which cannot be aggregated over processes.
 *
 * <p>Every meter has the tag {@code engine}, which distinguishes several engines of a process; give them {@linkplain
 * io.sluice.engine.EngineOptions.Builder#name(String) names}. Binding an engine twice to one registry with the same
 * tags is harmless. Of two engines with the same name and tags, the second is measured once the meters of the first are
 * closed. A registry keeps the engine's metrics until this object is {@linkplain #close() closed}: close it with the
 * engine.
 *
 * <p>All methods may be called from any thread.
 */
public final class EngineMeters implements MeterBinder, AutoCloseable {
    private final EngineMetrics metrics;
    private final Tags tags;
    private final int peers;
    private final @Nullable TransferExemplars exemplars;
    private final List<EngineBinding> bindings = new ArrayList<>();
    private boolean closed;

    EngineMeters(EngineMetrics metrics, Tags extra, int peers, @Nullable TransferExemplars exemplars) {
        this.metrics = metrics;
        this.tags = extra.and(EngineMeter.ENGINE_TAG, metrics.engine());
        this.peers = peers;
        this.exemplars = exemplars;
    }

    /**
     * Exports all meters except those of peers, without further tags.
     *
     * @param engine the engine to measure
     * @return the meters, to be bound to a registry
     */
    public static EngineMeters of(TransferEngine engine) {
        return builder(engine).build();
    }

    /**
     * Returns a builder with the defaults.
     *
     * @param engine the engine to measure
     * @return the builder
     */
    public static Builder builder(TransferEngine engine) {
        return new Builder(engine.metrics());
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
                throw new IllegalStateException("the meters are closed; build others with EngineMeters.builder");
            }
            bindings.add(EngineBinding.of(registry, metrics, tags, peers, exemplars));
        }
    }

    /** Unregisters the meters, unless another binding registered the same ones. A second call does nothing. */
    @Override
    public void close() {
        synchronized (bindings) {
            closed = true;
            bindings.forEach(EngineBinding::release);
            bindings.clear();
        }
    }

    /** Builds {@link EngineMeters}. Not thread-safe. */
    public static final class Builder {
        private final EngineMetrics metrics;
        private Tags tags = Tags.empty();
        private int peers;
        private @Nullable TransferExemplars exemplars;

        Builder(EngineMetrics metrics) {
            this.metrics = metrics;
        }

        /**
         * Adds tags to every meter.
         *
         * @param more the tags, which should have few values
         * @return this
         */
        public Builder tags(Iterable<Tag> more) {
            tags = tags.and(more);
            return this;
        }

        /**
         * Exports meters for each peer, too. Their number is bounded: further peers are combined as the peer {@code
         * other}. A new peer replaces a disconnected one. Its meters are registered when a registry reads the existing
         * ones, so they appear at the next reading. Default: 0, no meters of peers.
         *
         * @param most how many peers have their own meters, 0 to 10,000
         * @return this
         */
        public Builder peers(int most) {
            if (most < 0 || most > EngineBinding.MOST_PEERS) {
                throw new IllegalArgumentException("peers is 0 to " + EngineBinding.MOST_PEERS + ", not " + most);
            }
            peers = most;
            return this;
        }

        /**
         * Attaches exemplars of traced transfers to the histogram of durations, in Prometheus registries. Default:
         * none.
         *
         * @param source the exemplars, also registered as a handler of observations
         * @return this
         */
        public Builder exemplars(TransferExemplars source) {
            exemplars = Objects.requireNonNull(source, "source");
            return this;
        }

        /**
         * Creates the meters.
         *
         * @return the meters, to be bound to a registry
         */
        public EngineMeters build() {
            return new EngineMeters(metrics, tags, peers, exemplars);
        }
    }
}
