package io.sluice.metrics.snippets;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.TransferEngine;
import io.sluice.metrics.EngineMeters;
import io.sluice.metrics.FlightRecorderObserver;
import org.junit.jupiter.api.Test;

/** Runs the documentation's program for plain Micrometer. */
class PlainMicrometerTest {
    @Test
    void itExportsTheEngine() {
        // begin
        EngineOptions options = EngineOptions.builder()
                .environment(System.getenv())
                .name("kv-cache")
                .observer(new FlightRecorderObserver())
                .build();
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        String scrape;
        try (TransferEngine engine = TransferEngine.open(options);
                EngineMeters meters = EngineMeters.builder(engine).peers(32).build()) {
            meters.bindTo(registry);
            scrape = registry.scrape(); // what an HTTP handler answers
        }
        // end
        assertThat(scrape).contains("sluice_transfer_bytes_total{engine=\"kv-cache\"");
    }
}
