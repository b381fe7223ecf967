package io.sluice.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;

/** Recognizes Prometheus registries, also in a program without that class. */
final class PrometheusRegistries {
    private static final boolean PRESENT = isPresent();

    private PrometheusRegistries() {}

    private static boolean isPresent() {
        try {
            Class.forName(
                    "io.micrometer.prometheusmetrics.PrometheusMeterRegistry",
                    false,
                    PrometheusRegistries.class.getClassLoader());
            return true;
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
    }

    static boolean isOne(MeterRegistry registry) {
        return PRESENT && registry instanceof PrometheusMeterRegistry;
    }
}
