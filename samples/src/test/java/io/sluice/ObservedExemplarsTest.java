package io.sluice;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.observation.ObservationRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.tracer.common.SpanContext;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RegionOptions;
import io.sluice.metrics.EngineMeters;
import io.sluice.metrics.TransferExemplars;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.ReactiveTransferEngine;
import io.sluice.reactor.observation.ObservedTransfers;
import io.sluice.testkit.Patience;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** Across the modules: an observed transfer is an exemplar of the engine's histogram. */
class ObservedExemplarsTest {
    private static final Duration BOUND = Patience.BOUND;

    @Test
    void anObservedWriteLeadsFromItsBucketToItsTrace() {
        ObservationRegistry observations = ObservationRegistry.create();
        TransferExemplars exemplars = new TransferExemplars(new OneSpan());
        observations.observationConfig().observationHandler(exemplars);
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        ReactiveTransferEngine engine = ReactiveTransferEngine.open(EngineOptions.builder()
                .connectTimeout(BOUND)
                .handshakeTimeout(BOUND)
                .build());
        try (EngineMeters meters =
                EngineMeters.builder(engine.engine()).exemplars(exemplars).build()) {
            meters.bindTo(registry);
            MemoryRegion source = engine.allocate(4096, RegionOptions.local());
            MemoryRegion target = engine.allocate(4096, RegionOptions.readWrite());
            ReactiveConnection connection = engine.connect(engine.address()).block(BOUND);
            connection
                    .attach(target.descriptor())
                    .flatMap(remote -> connection
                            .write(source, remote, 0)
                            .transform(ObservedTransfers.in(observations).mono(connection, Operation.WRITE)))
                    .block(BOUND);
            Awaitility.await()
                    .atMost(BOUND)
                    .untilAsserted(() -> assertThat(registry.scrape("application/openmetrics-text; version=1.0.0")
                                    .lines())
                            .filteredOn(line -> line.startsWith("sluice_transfer_duration_seconds_bucket{")
                                    && line.contains("trace_id=\"" + OneSpan.TRACE + "\""))
                            .hasSize(1)
                            .allMatch(line -> line.contains("operation=\"write\"")));
        } finally {
            engine.engine().close();
        }
    }

    /** As though one span were always current. */
    private static final class OneSpan implements SpanContext {
        private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

        @Override
        public String getCurrentTraceId() {
            return TRACE;
        }

        @Override
        public String getCurrentSpanId() {
            return "00f067aa0ba902b7";
        }

        @Override
        public boolean isCurrentSpanSampled() {
            return true;
        }

        @Override
        public void markCurrentSpanAsExemplar() {}
    }
}
