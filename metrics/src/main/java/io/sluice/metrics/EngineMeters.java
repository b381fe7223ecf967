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
 * Exports an engine's figures to Micrometer registries: all that {@link EngineMeter} names. Nothing is added to the path of a
 * transfer: a registry reads the pollers' own counters when it is scraped or publishes.
 *
 * <p>A Prometheus registry, and one within a composite registry that has it already, gets the durations as true histograms, from
 * 1 µs to 10 s, by a collector of its own: no {@code Timer} may have one of their names. Any other registry gets a function timer
 * for each, of which it publishes the count and the sum, and gauges called {@code .percentile} with the tag {@code phi}: estimates
 * over the last half to one minute, which do not add up over processes.
 *
 * <p>Every meter carries the tag {@code engine}, so that several engines of a process are told apart; give them
 * {@linkplain io.sluice.engine.EngineOptions.Builder#name(String) names}. To bind an engine twice to one registry with the same
 * tags is harmless. Of two engines with one name and the same tags, the second is measured once the meters of the first are
 * closed. A registry keeps the engine's figures until this is {@linkplain #close() closed}, which belongs to closing the engine.
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
     * All meters but those of peers, without further tags.
     *
     * @param engine to be measured
     * @return to be bound to a registry
     */
    public static EngineMeters of(TransferEngine engine) {
        return builder(engine).build();
    }

    /**
     * Begins with the defaults.
     *
     * @param engine to be measured
     * @return the builder
     */
    public static Builder builder(TransferEngine engine) {
        return new Builder(engine.metrics());
    }

    /**
     * Registers the meters.
     *
     * @param registry any; if it is a composite one, its members until now get the histograms, and later ones all but those
     * @throws IllegalStateException if this is closed
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

    /** Unregisters the meters, except where another binding has registered the same ones. A second call does nothing. */
    @Override
    public void close() {
        synchronized (bindings) {
            closed = true;
            bindings.forEach(EngineBinding::release);
            bindings.clear();
        }
    }

    /** Says what to export. For one thread. */
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
         * @param more of few values
         * @return this
         */
        public Builder tags(Iterable<Tag> more) {
            tags = tags.and(more);
            return this;
        }

        /**
         * Exports meters for each peer, too. Their number is bounded: peers beyond it come together under the peer
         * {@code other}. The place of a peer that is gone is given to a new one. A new peer's meters are
         * registered when a registry reads the old ones, so that they come with its next reading. Default: 0, no meters of
         * peers.
         *
         * @param most how many peers are told apart, 0 to 10,000
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
         * Attaches exemplars of traced transfers to the histogram of durations, in Prometheus registries. Default: none.
         *
         * @param source also registered as a handler of observations
         * @return this
         */
        public Builder exemplars(TransferExemplars source) {
            exemplars = Objects.requireNonNull(source, "source");
            return this;
        }

        /**
         * Makes them.
         *
         * @return to be bound to a registry
         */
        public EngineMeters build() {
            return new EngineMeters(metrics, tags, peers, exemplars);
        }
    }
}
