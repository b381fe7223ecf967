package io.sluice.vertx;

import static io.sluice.vertx.Bounded.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.sluice.metrics.EngineMeters;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.micrometer.MicrometerMetricsFactory;
import io.vertx.micrometer.MicrometerMetricsOptions;
import org.junit.jupiter.api.Test;

/** The engine's figures come with those of Vert.x, once. */
class MetersTest {
    private static final String METER = "sluice_regions{engine=\"kv-cache\"";

    private static long lines(PrometheusMeterRegistry registry) {
        return registry.scrape().lines().filter(line -> line.startsWith(METER)).count();
    }

    @Test
    void oneEngineHasItsMetersOnce() throws Exception {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        Vertx vertx = Vertx.builder()
                .with(new VertxOptions()
                        .setMetricsOptions(
                                new MicrometerMetricsOptions().setEnabled(true).setRegistryName("meters-test")))
                .withMetrics(new MicrometerMetricsFactory(registry))
                .build();
        try {
            TransferClientOptions options = Target.clientOptions("tcp")
                    .setShared(true)
                    .configureEngine(engine -> engine.name("kv-cache"))
                    .setMetricsRegistryName("meters-test");
            TransferClient first = TransferClient.create(vertx, options);
            TransferClient second = TransferClient.create(vertx, options);
            assertThat(lines(registry)).isEqualTo(1);
            try (EngineMeters byHand = EngineMeters.of(first.engine())) {
                byHand.bindTo(registry);
                assertThat(lines(registry)).isEqualTo(1);
            }
            await(first.close());
            assertThat(lines(registry)).isEqualTo(1);
            await(second.close());
            assertThat(lines(registry)).isZero();
            TransferClient silent = TransferClient.create(vertx, options.setMetricsEnabled(false));
            assertThat(lines(registry)).isZero();
            await(silent.close());
        } finally {
            await(vertx.close());
        }
    }

    @Test
    void withoutMetricsOfVertxThereAreNone() throws Exception {
        Vertx vertx = Vertx.vertx();
        try {
            assertThat(await(TransferClient.create(vertx, Target.clientOptions("tcp"))
                                    .health())
                            .getString("status"))
                    .isEqualTo("UP");
        } finally {
            await(vertx.close());
        }
    }
}
