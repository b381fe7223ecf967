package io.sluice.metrics.snippets;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.sluice.engine.TransferEngine;
import io.sluice.metrics.EngineMeters;
import io.sluice.testkit.Patience;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.micrometer.MicrometerMetricsFactory;
import io.vertx.micrometer.MicrometerMetricsOptions;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The meters of an engine in the registry of Vert.x. */
class VertxTest {
    @Test
    void oneRegistryHasBoth() throws Exception {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        Vertx vertx = Vertx.builder()
                .with(new VertxOptions().setMetricsOptions(new MicrometerMetricsOptions().setEnabled(true)))
                .withMetrics(new MicrometerMetricsFactory(registry))
                .build();
        TransferEngine engine = TransferEngine.open();
        EngineMeters meters = EngineMeters.of(engine);
        meters.bindTo(registry);
        try (engine;
                meters) {
            await(vertx.executeBlocking(() -> "work"));
            assertThat(registry.scrape()).contains("sluice_transfer_bytes_total{", "vertx_");
        } finally {
            await(vertx.close());
        }
    }

    private static void await(Future<?> future) throws Exception {
        future.toCompletionStage().toCompletableFuture().get(Patience.BOUND.toNanos(), TimeUnit.NANOSECONDS);
    }
}
