package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.Tags;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.prometheus.metrics.tracer.common.SpanContext;
import io.sluice.engine.EngineMetrics.Operation;
import org.junit.jupiter.api.Test;

class TransferExemplarsTest {
    private static final String OPEN_METRICS = "application/openmetrics-text; version=1.0.0";

    private final ObservationRegistry observations = ObservationRegistry.create();

    @Test
    void aTracedTransferIsAnExemplarOfItsBucket() throws Exception {
        TransferExemplars exemplars = new TransferExemplars(new OneSpan(true));
        observations.observationConfig().observationHandler(exemplars);
        try (LinkedEngines engines = LinkedEngines.open();
                EngineMeters meters = EngineMeters.builder(engines.source())
                        .exemplars(exemplars)
                        .tags(Tags.of("zone", "a"))
                        .build()) {
            PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
            meters.bindTo(registry);
            Observation observation = started("sluice.transfer");
            engines.write(1, 4096);
            observation.lowCardinalityKeyValue("outcome", "success").stop();

            assertThat(registry.scrape(OPEN_METRICS).lines())
                    .filteredOn(line -> line.startsWith("sluice_transfer_duration_seconds_bucket{")
                            && line.contains("trace_id=\"4bf92f3577b34da6a3ce929d0e0e4736\""))
                    .hasSize(1)
                    .allMatch(line ->
                            line.contains("operation=\"write\"") && line.contains("span_id=\"00f067aa0ba902b7\""));
        }
    }

    @Test
    void whatIsNotSampledOrNotATransferOrFailedIsNone() {
        TransferExemplars notSampled = new TransferExemplars(new OneSpan(false));
        TransferExemplars sampled = new TransferExemplars(new OneSpan(true));
        observations.observationConfig().observationHandler(notSampled);
        started("sluice.transfer").lowCardinalityKeyValue("outcome", "success").stop();
        assertThat(notSampled.of("tcp", Operation.WRITE)).isEmpty();
        observations.observationConfig().observationHandler(sampled);
        started("another").lowCardinalityKeyValue("outcome", "success").stop();
        started("sluice.transfer").lowCardinalityKeyValue("outcome", "error").stop();
        assertThat(sampled.of("tcp", Operation.WRITE)).isEmpty();
    }

    private Observation started(String name) {
        Observation observation = Observation.createNotStarted(name, observations)
                .lowCardinalityKeyValue("operation", "write")
                .lowCardinalityKeyValue("transport", "tcp")
                .start();
        observation.openScope().close();
        return observation;
    }

    /** As though one span were always current. */
    private record OneSpan(boolean isCurrentSpanSampled) implements SpanContext {
        @Override
        public String getCurrentTraceId() {
            return "4bf92f3577b34da6a3ce929d0e0e4736";
        }

        @Override
        public String getCurrentSpanId() {
            return "00f067aa0ba902b7";
        }

        @Override
        public void markCurrentSpanAsExemplar() {}
    }
}
