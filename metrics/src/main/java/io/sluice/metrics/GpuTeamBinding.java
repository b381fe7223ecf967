package io.sluice.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.sluice.collectives.cuda.GpuCollectiveMetrics;
import io.sluice.collectives.cuda.GpuTeamMetrics;
import java.util.HashSet;
import java.util.Set;

/** The meters of one GPU team in one registry. */
final class GpuTeamBinding {
    private final GpuTeamMetrics metrics;
    private final Tags tags;
    private final RegisteredMeters meters;
    private final Set<GpuCollectiveMetrics> known = new HashSet<>();

    GpuTeamBinding(MeterRegistry registry, GpuTeamMetrics metrics, Tags tags) {
        this.metrics = metrics;
        this.tags = tags;
        this.meters = new RegisteredMeters(registry);
        GpuMeter starts = GpuMeter.COLLECTIVE_STARTS;
        meters.counter(starts, tags.and("of", "single"), metrics, GpuTeamMetrics::singleStarts);
        meters.counter(starts, tags.and("of", "graph"), metrics, GpuTeamMetrics::graphStarts);
        meters.counter(starts, tags.and("of", "refused"), metrics, GpuTeamMetrics::refusedStarts);
        // this meter holds what all of them read, as registries hold only weak references to other objects
        meters.gauge(GpuMeter.COLLECTIVE_FAILED, tags, this::failed);
        refresh();
    }

    /** This meter is read whenever any is, so new kinds and algorithms are noticed here. */
    private int failed() {
        refresh();
        return metrics.hasFailed() ? 1 : 0;
    }

    private synchronized void refresh() {
        for (GpuCollectiveMetrics each : metrics.collectives()) {
            if (known.add(each)) {
                Tags own = tags.and(
                        "kind",
                        each.kind().toString(),
                        "algorithm",
                        each.algorithm().label());
                meters.counter(GpuMeter.COLLECTIVE_OPERATIONS, own, each, GpuCollectiveMetrics::ended);
                meters.counter(GpuMeter.COLLECTIVE_BYTES, own, each, GpuCollectiveMetrics::bytes);
                meters.gauge(GpuMeter.COLLECTIVE_IN_FLIGHT, own, each, GpuCollectiveMetrics::inFlight);
            }
        }
    }

    void remove() {
        meters.removeAll();
    }
}
