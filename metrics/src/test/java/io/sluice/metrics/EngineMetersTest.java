package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.composite.CompositeMeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.RegionOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.testkit.Patience;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The meters of real engines, over tcp. */
class EngineMetersTest {
    private static final int WRITES = 1000;
    private static final int READS = 300;
    private static final int BYTES = 4096;

    @Test
    void theSumsAreWhatWasTransferred() throws Exception {
        try (LinkedEngines engines = LinkedEngines.open();
                EngineMeters source = EngineMeters.of(engines.source());
                EngineMeters target = EngineMeters.of(engines.target())) {
            MeterRegistry registry = new SimpleMeterRegistry();
            source.bindTo(registry);
            target.bindTo(registry);
            engines.write(WRITES, BYTES);
            engines.read(READS, BYTES);

            Tags writes = Tags.of("engine", "source", "transport", "tcp", "operation", "write");
            Tags reads = Tags.of("engine", "source", "transport", "tcp", "operation", "read");
            assertThat(counter(registry, EngineMeter.TRANSFER_OPERATIONS, writes.and("outcome", "success")))
                    .isEqualTo(WRITES);
            assertThat(counter(registry, EngineMeter.TRANSFER_BYTES, writes.and("outcome", "success")))
                    .isEqualTo((double) WRITES * BYTES);
            assertThat(counter(registry, EngineMeter.TRANSFER_BYTES, reads.and("outcome", "success")))
                    .isEqualTo((double) READS * BYTES);
            assertThat(sum(registry, EngineMeter.TRANSFER_ERRORS)).isZero();
            Tags served = Tags.of("engine", "target", "transport", "tcp");
            // the target may answer before it counts
            Awaitility.await().atMost(Patience.BOUND).untilAsserted(() -> {
                assertThat(counter(registry, EngineMeter.SERVED_BYTES, served.and("operation", "write")))
                        .isEqualTo((double) WRITES * BYTES);
                assertThat(counter(registry, EngineMeter.SERVED_BYTES, served.and("operation", "read")))
                        .isEqualTo((double) READS * BYTES);
            });
            assertThat(counter(
                            registry,
                            EngineMeter.WIRE_BYTES,
                            Tags.of("engine", "source", "transport", "tcp", "direction", "sent")))
                    .isGreaterThan((double) WRITES * BYTES);
            for (EngineMeter meter : new EngineMeter[] {
                EngineMeter.TRANSFER_DURATION, EngineMeter.TRANSFER_CREDIT_WAIT, EngineMeter.TRANSFER_COMPLETION
            }) {
                assertThat(timer(registry, meter, writes).count())
                        .as(meter.meterName())
                        .isEqualTo(WRITES);
                assertThat(timer(registry, meter, reads).count())
                        .as(meter.meterName())
                        .isEqualTo(READS);
            }
            assertThat(timer(registry, EngineMeter.TRANSFER_DURATION, writes).totalTime(TimeUnit.NANOSECONDS))
                    .isPositive();
            assertThat(registry.get("sluice.transfer.duration.percentile")
                            .tags(writes.and("phi", "0.99"))
                            .timeGauge()
                            .value(TimeUnit.NANOSECONDS))
                    .isPositive();
            assertThat(registry.find(EngineMeter.TRANSFER_BYTES.meterName())
                            .tags("operation", "notify")
                            .meters())
                    .isEmpty();
            assertThat(gauge(registry, EngineMeter.IN_FLIGHT_OPERATIONS, "source"))
                    .isZero();
            assertThat(gauge(registry, EngineMeter.IN_FLIGHT_BYTES, "source")).isZero();
            assertThat(gauge(registry, EngineMeter.PENDING, "source")).isZero();
            assertThat(gauge(registry, EngineMeter.PENDING_LIMIT, "source"))
                    .isEqualTo(engines.source().options().maxPending());
            assertThat(gauge(registry, EngineMeter.REGION_BYTES, "target")).isEqualTo(LinkedEngines.REGION_BYTES);
            assertThat(registry.get(EngineMeter.CONNECTIONS.meterName())
                            .tags("engine", "target", "transport", "tcp", "state", "open")
                            .gauge()
                            .value())
                    .isEqualTo(1);
        }
    }

    @Test
    void prometheusGetsTrueHistogramsWhoseCountIsTheCounter() throws Exception {
        try (LinkedEngines engines = LinkedEngines.open();
                EngineMeters source = EngineMeters.of(engines.source());
                EngineMeters target = EngineMeters.of(engines.target())) {
            PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            registry.config().commonTags("zone", "a");
            source.bindTo(registry);
            target.bindTo(registry);
            engines.write(WRITES, BYTES);
            Scrape scrape = Scrape.of(registry.scrape());

            String[] writes = {"engine=\"source\"", "transport=\"tcp\"", "operation=\"write\"", "zone=\"a\""};
            for (String name : new String[] {
                "sluice_transfer_duration_seconds",
                "sluice_transfer_credit_wait_seconds",
                "sluice_transfer_completion_seconds"
            }) {
                assertThat(scrape.type(name)).isEqualTo("histogram");
                assertThat(scrape.value(name + "_count", writes)).isEqualTo(WRITES);
                assertThat(scrape.value(
                                name + "_bucket",
                                "engine=\"source\"",
                                "transport=\"tcp\"",
                                "operation=\"write\"",
                                "le=\"+Inf\""))
                        .isEqualTo(WRITES);
                assertThat(scrape.bounds(name, "engine=\"source\"", "operation=\"write\""))
                        .hasSize(23)
                        .startsWith(1e-6, 2e-6, 5e-6, 1e-5)
                        .endsWith(5.0, 10.0, Double.POSITIVE_INFINITY);
                assertThat(scrape.buckets(name, "engine=\"source\"", "operation=\"write\""))
                        .isSorted();
            }
            assertThat(scrape.value("sluice_transfer_duration_seconds_sum", writes))
                    .isPositive();
            assertThat(scrape.value(
                            "sluice_transfer_operations_total",
                            "engine=\"source\"",
                            "operation=\"write\"",
                            "outcome=\"success\""))
                    .isEqualTo(WRITES);
        }
    }

    @Test
    void everyDocumentedMeterIsRegisteredAndNoOther() throws Exception {
        try (LinkedEngines engines = LinkedEngines.open();
                EngineMeters meters =
                        EngineMeters.builder(engines.source()).peers(1).build()) {
            MeterRegistry registry = new SimpleMeterRegistry();
            meters.bindTo(registry);
            // a tcp connection has no device
            Stream<String> documented = Arrays.stream(EngineMeter.values())
                    .filter(meter -> !meter.tags().contains("device") && !meter.isOfTeams() && !meter.isOfExperts())
                    .map(EngineMeter::meterName);
            Stream<String> percentiles = Arrays.stream(TransferHistogram.values())
                    .map(histogram -> histogram.meter().meterName() + ".percentile");
            assertThat(names(registry))
                    .isEqualTo(Stream.concat(documented, percentiles).collect(Collectors.toSet()));

            PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            meters.bindTo(prometheus);
            Set<String> exposed = Scrape.of(prometheus.scrape()).names();
            assertThat(exposed)
                    .isEqualTo(Arrays.stream(EngineMeter.values())
                            .filter(meter ->
                                    !meter.tags().contains("device") && !meter.isOfTeams() && !meter.isOfExperts())
                            .flatMap(meter -> meter.prometheusNames().stream())
                            .collect(Collectors.toSet()));
        }
    }

    @Test
    void toBindTwiceIsHarmless() {
        try (TransferEngine engine =
                TransferEngine.open(EngineOptions.builder().name("twice").build())) {
            PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            EngineMeters first = EngineMeters.of(engine);
            EngineMeters second = EngineMeters.of(engine);
            first.bindTo(registry);
            Set<String> series = Scrape.of(registry.scrape()).series();
            first.bindTo(registry);
            second.bindTo(registry);
            assertThat(Scrape.of(registry.scrape()).series()).isEqualTo(series);

            first.close();
            assertThat(Scrape.of(registry.scrape()).series())
                    .as("the second still has them")
                    .isEqualTo(series);
            second.close();
            second.close();
            assertThat(registry.getMeters()).isEmpty();
            assertThat(Scrape.of(registry.scrape()).series()).isEmpty();
            assertThatThrownBy(() -> first.bindTo(registry)).isInstanceOf(IllegalStateException.class);
        }
    }

    /** As when a service makes its engine again before the old one is closed. */
    @Test
    void anEngineOfTheSameNameIsMeasuredWhenTheOneBeforeIsGone() {
        EngineOptions options =
                EngineOptions.builder().name("same").noListener().build();
        MeterRegistry simple = new SimpleMeterRegistry();
        PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        try (TransferEngine first = TransferEngine.open(options);
                TransferEngine second = TransferEngine.open(options);
                TransferEngine third = TransferEngine.open(options);
                EngineMeters ofSecond = EngineMeters.of(second);
                EngineMeters ofThird = EngineMeters.of(third)) {
            second.allocate(64, RegionOptions.local());
            third.allocate(64, RegionOptions.local());
            third.allocate(64, RegionOptions.local());
            EngineMeters ofFirst = EngineMeters.of(first);
            for (MeterRegistry registry : List.of(simple, prometheus)) {
                ofFirst.bindTo(registry);
                ofSecond.bindTo(registry);
                ofThird.bindTo(registry);
                assertThat(gauge(registry, EngineMeter.REGIONS, "same")).isZero();
            }
            // One that waits goes, and nothing changes.
            ofSecond.close();
            assertThat(gauge(simple, EngineMeter.REGIONS, "same")).isZero();
            ofFirst.close();
            for (MeterRegistry registry : List.of(simple, prometheus)) {
                assertThat(gauge(registry, EngineMeter.REGIONS, "same")).isEqualTo(2);
            }
            assertThat(prometheus.scrape()).contains("sluice_transfer_duration_seconds_bucket");
            ofThird.close();
            assertThat(simple.getMeters()).isEmpty();
        }
    }

    @Test
    void twoEnginesAreToldApartAndGoOneByOne() {
        try (TransferEngine one =
                        TransferEngine.open(EngineOptions.builder().name("one").build());
                TransferEngine other = TransferEngine.open(
                        EngineOptions.builder().name("other").build())) {
            PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            EngineMeters ofOne = EngineMeters.of(one);
            ofOne.bindTo(registry);
            try (EngineMeters ofOther =
                    EngineMeters.builder(other).tags(Tags.of("zone", "a")).build()) {
                MeterRegistry apart = new SimpleMeterRegistry();
                ofOther.bindTo(apart);
                assertThat(apart.getMeters())
                        .allMatch(meter -> "other".equals(meter.getId().getTag("engine"))
                                && "a".equals(meter.getId().getTag("zone")));
            }
            EngineMeters ofOther = EngineMeters.of(other);
            ofOther.bindTo(registry);
            Scrape both = Scrape.of(registry.scrape());
            assertThat(both.series("engine=\"one\"")).hasSameSizeAs(both.series("engine=\"other\""));

            ofOne.close();
            Scrape left = Scrape.of(registry.scrape());
            assertThat(left.series("engine=\"one\"")).isEmpty();
            assertThat(left.series()).isEqualTo(both.series("engine=\"other\""));
            ofOther.close();
        }
    }

    @Test
    void aCompositeRegistryGivesEachMemberWhatItCanTake() {
        try (TransferEngine engine =
                        TransferEngine.open(EngineOptions.builder().name("one").build());
                EngineMeters meters = EngineMeters.of(engine)) {
            PrometheusMeterRegistry prometheus = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            MeterRegistry simple = new SimpleMeterRegistry();
            CompositeMeterRegistry composite = new CompositeMeterRegistry();
            composite.add(prometheus);
            composite.add(simple);
            meters.bindTo(composite);

            assertThat(Scrape.of(prometheus.scrape()).type("sluice_transfer_duration_seconds"))
                    .isEqualTo("histogram");
            assertThat(simple.get(EngineMeter.TRANSFER_DURATION.meterName()).functionTimers())
                    .isNotEmpty();
            assertThat(simple.get(EngineMeter.REGIONS.meterName()).gauge().value())
                    .isZero();
            meters.close();
            assertThat(simple.getMeters()).isEmpty();
            assertThat(Scrape.of(prometheus.scrape()).series()).isEmpty();
        }
    }

    private static Set<String> names(MeterRegistry registry) {
        return registry.getMeters().stream()
                .map(Meter::getId)
                .map(Meter.Id::getName)
                .collect(Collectors.toSet());
    }

    private static double counter(MeterRegistry registry, EngineMeter meter, Tags tags) {
        return registry.get(meter.meterName()).tags(tags).functionCounter().count();
    }

    private static double sum(MeterRegistry registry, EngineMeter meter) {
        return registry.get(meter.meterName()).functionCounters().stream()
                .mapToDouble(FunctionCounter::count)
                .sum();
    }

    private static FunctionTimer timer(MeterRegistry registry, EngineMeter meter, Tags tags) {
        return registry.get(meter.meterName()).tags(tags).functionTimer();
    }

    private static double gauge(MeterRegistry registry, EngineMeter meter, String engine) {
        return registry.get(meter.meterName()).tag("engine", engine).gauge().value();
    }
}
