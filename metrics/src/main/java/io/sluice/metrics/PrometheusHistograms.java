package io.sluice.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.config.NamingConvention;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.Exemplars;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.LatencyHistogram;
import io.sluice.engine.TransportMetrics;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The histograms of all engines bound to one Prometheus registry, as only one collector may supply a name. Each scrape
 * takes snapshots of the pollers' counts.
 */
final class PrometheusHistograms implements MultiCollector {
    private static final double NANOS_A_SECOND = 1e9;
    private static final double[] BOUNDS = bounds();
    /** The durations of calls of ranks. */
    private static final List<EngineMeter> OF_CALLS =
            List.of(EngineMeter.COLLECTIVE_DURATION, EngineMeter.EXPERT_DURATION);

    /** Values must not refer to their registry. */
    private static final Map<PrometheusRegistry, PrometheusHistograms> ALL = new WeakHashMap<>();

    private final List<Series> all = new CopyOnWriteArrayList<>();
    private final List<SeriesOfCalls> calls = new CopyOnWriteArrayList<>();

    private PrometheusHistograms() {}

    private static double[] bounds() {
        double[] seconds = Arrays.stream(LatencyHistogram.boundsNanos())
                .mapToDouble(nanos -> nanos / NANOS_A_SECOND)
                .toArray();
        double[] bounds = Arrays.copyOf(seconds, seconds.length + 1);
        bounds[seconds.length] = Double.POSITIVE_INFINITY;
        return bounds;
    }

    /** The histogram of one set of labels. */
    private record Series(
            TransportMetrics transport,
            Operation operation,
            Labels labels,
            @Nullable TransferExemplars exemplars) {

        HistogramDataPointSnapshot snapshot(TransferHistogram histogram) {
            HistogramDataPointSnapshot.Builder point = point(labels, histogram.of(transport, operation));
            if (exemplars != null && histogram == TransferHistogram.DURATION) {
                point.exemplars(Exemplars.of(exemplars.of(transport.name(), operation)));
            }
            return point.build();
        }
    }

    /** The histogram of one kind of calls of a rank. */
    private record SeriesOfCalls(EngineMeter meter, Supplier<LatencyHistogram> histogram, Labels labels) {}

    private static HistogramDataPointSnapshot.Builder point(Labels labels, LatencyHistogram taken) {
        HistogramDataPointSnapshot.Builder point = HistogramSnapshot.HistogramDataPointSnapshot.builder()
                .labels(labels)
                .classicHistogramBuckets(ClassicHistogramBuckets.of(BOUNDS, taken.counts()));
        point.sum(taken.sumNanos() / NANOS_A_SECOND);
        return point;
    }

    /**
     * Adds the histogram of one kind of calls of a rank.
     *
     * @param registry a Prometheus registry
     * @param meter one of {@link #OF_CALLS}
     * @param tags the tags after the registry's filters
     * @return removes it
     */
    static Runnable add(MeterRegistry registry, EngineMeter meter, Supplier<LatencyHistogram> histogram, Tags tags) {
        SeriesOfCalls series = new SeriesOfCalls(
                meter, histogram, labels(tags, registry.config().namingConvention()));
        PrometheusHistograms histograms = in(((PrometheusMeterRegistry) registry).getPrometheusRegistry());
        histograms.calls.add(series);
        return () -> histograms.calls.remove(series);
    }

    /**
     * Adds the histograms of one kind of operation over one transport.
     *
     * @param registry a Prometheus registry
     * @param tags the tags after the registry's filters
     * @return removes them
     */
    static Runnable add(
            MeterRegistry registry,
            TransportMetrics transport,
            Operation operation,
            Tags tags,
            @Nullable TransferExemplars exemplars) {
        PrometheusRegistry prometheus = ((PrometheusMeterRegistry) registry).getPrometheusRegistry();
        Series series =
                new Series(transport, operation, labels(tags, registry.config().namingConvention()), exemplars);
        PrometheusHistograms histograms = in(prometheus);
        histograms.all.add(series);
        return () -> histograms.all.remove(series);
    }

    private static PrometheusHistograms in(PrometheusRegistry registry) {
        synchronized (ALL) {
            PrometheusHistograms known = ALL.get(registry);
            if (known == null) {
                known = new PrometheusHistograms();
                registry.register(known);
                ALL.put(registry, known);
            }
            return known;
        }
    }

    private static Labels labels(Tags tags, NamingConvention convention) {
        Labels.Builder labels = Labels.builder();
        for (Tag tag : tags) {
            labels.label(convention.tagKey(tag.getKey()), convention.tagValue(tag.getValue()));
        }
        return labels.build();
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return Stream.concat(Arrays.stream(TransferHistogram.values()).map(TransferHistogram::meter), OF_CALLS.stream())
                .map(meter -> MetricFamilyDescriptor.histogram(name(meter))
                        .help(meter.description())
                        .build())
                .toList();
    }

    private static String name(EngineMeter meter) {
        return meter.meterName().replace('.', '_') + "_" + meter.unit();
    }

    @Override
    public MetricSnapshots collect() {
        MetricSnapshots.Builder families = MetricSnapshots.builder();
        if (!all.isEmpty()) {
            for (TransferHistogram histogram : TransferHistogram.values()) {
                HistogramSnapshot.Builder family = HistogramSnapshot.builder();
                family.name(name(histogram.meter()));
                family.help(histogram.meter().description());
                // a registry may be bound directly and within a composite registry
                Set<Labels> seen = new HashSet<>();
                for (Series series : all) {
                    if (seen.add(series.labels())) {
                        family.dataPoint(series.snapshot(histogram));
                    }
                }
                families.metricSnapshot(family.build());
            }
        }
        OF_CALLS.forEach(meter -> collect(meter, families));
        return families.build();
    }

    private void collect(EngineMeter meter, MetricSnapshots.Builder families) {
        HistogramSnapshot.Builder family = HistogramSnapshot.builder();
        family.name(name(meter));
        family.help(meter.description());
        Set<Labels> seen = new HashSet<>();
        for (SeriesOfCalls series : calls) {
            if (series.meter() == meter && seen.add(series.labels())) {
                family.dataPoint(
                        point(series.labels(), series.histogram().get()).build());
            }
        }
        if (!seen.isEmpty()) {
            families.metricSnapshot(family.build());
        }
    }
}
