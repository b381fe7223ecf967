package io.sluice.metrics.snippets;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.sluice.metrics.EngineMeter;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.export.prometheus.PrometheusMetricsExportAutoConfiguration;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

/** Runs the documentation's program for Spring Boot. */
class SpringBootTest {
    @Test
    void theActuatorBindsTheMeters() {
        try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext(
                MetricsAutoConfiguration.class,
                PrometheusMetricsExportAutoConfiguration.class,
                TransferEngineConfiguration.class)) {
            MeterRegistry registry = context.getBean(MeterRegistry.class);
            assertThat(registry.get(EngineMeter.REGIONS.meterName())
                            .tag("engine", "kv-cache")
                            .gauge()
                            .value())
                    .isZero();
        }
    }
}
