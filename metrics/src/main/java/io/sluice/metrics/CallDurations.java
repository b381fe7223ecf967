package io.sluice.metrics;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.sluice.engine.LatencyHistogram;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The durations of one kind of calls of a rank: a histogram in a Prometheus registry, a function timer in others.
 *
 * @param meter one of those durations
 * @param ended the counter of the calls, which is registered before
 * @param successes the tags of that counter, which has the tag {@code outcome} in addition
 */
record CallDurations(EngineMeter meter, EngineMeter ended, Tags successes) {
    /**
     * Registers them.
     *
     * @param tags without the registry's filters
     * @param read what they are of; registries hold it weakly
     * @return what removes them
     */
    <T> List<Runnable> register(MeterRegistry registry, Tags tags, T read, Function<T, LatencyHistogram> histogram) {
        List<Runnable> removals = new ArrayList<>();
        for (MeterRegistry leaf : EngineBinding.leaves(registry)) {
            if (PrometheusRegistries.isOne(leaf)) {
                FunctionCounter counter =
                        leaf.find(ended.meterName()).tags(successes).functionCounter();
                removals.add(PrometheusHistograms.add(
                        leaf, meter, () -> histogram.apply(read), EngineBinding.filtered(tags, "outcome", counter)));
                continue;
            }
            RegisteredMeters ofLeaf = new RegisteredMeters(leaf);
            removals.add(ofLeaf::removeAll);
            ofLeaf.timer(
                    meter,
                    tags,
                    read,
                    each -> histogram.apply(each).count(),
                    each -> histogram.apply(each).sumNanos());
        }
        return removals;
    }
}
