package io.sluice.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.sluice.experts.cuda.GpuExpertCallMetrics;
import io.sluice.experts.cuda.GpuExpertMetrics;

/** The meters of one expert buffer on GPUs in one registry. */
final class GpuExpertBinding {
    private final RegisteredMeters meters;

    GpuExpertBinding(MeterRegistry registry, GpuExpertMetrics metrics, Tags tags) {
        this.meters = new RegisteredMeters(registry);
        GpuMeter starts = GpuMeter.EXPERT_STARTS;
        meters.counter(starts, tags.and("of", "single"), metrics, GpuExpertMetrics::singleStarts);
        meters.counter(starts, tags.and("of", "graph"), metrics, GpuExpertMetrics::graphStarts);
        meters.counter(starts, tags.and("of", "refused"), metrics, GpuExpertMetrics::refusedStarts);
        // this meter holds what all of them read, as registries hold only weak references to other objects
        meters.gauge(GpuMeter.EXPERT_FAILED, tags, () -> metrics.hasFailed() ? 1 : 0);
        for (GpuExpertCallMetrics each : metrics.calls()) {
            Tags own = tags.and("kind", each.kind().toString());
            meters.counter(GpuMeter.EXPERT_CALLS, own, each, GpuExpertCallMetrics::ended);
            meters.counter(GpuMeter.EXPERT_TOKENS, own, each, GpuExpertCallMetrics::tokens);
            meters.gauge(GpuMeter.EXPERT_IN_FLIGHT, own, each, GpuExpertCallMetrics::inFlight);
        }
    }

    void remove() {
        meters.removeAll();
    }
}
