package io.sluice.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** A service with another registry has none of Prometheus' classes. */
class WithoutPrometheusTest {

    /** Runs under a class loader that knows no Prometheus. */
    public static final class Service implements Callable<String> {
        /** Made by reflection. */
        public Service() {}

        @Override
        public String call() {
            FakeMetrics metrics = new FakeMetrics("service");
            metrics.transports.add(FakeMetrics.idleTransport("tcp"));
            MeterRegistry registry = new SimpleMeterRegistry();
            try (EngineMeters meters = new EngineMeters(metrics, Tags.empty(), 1, null)) {
                meters.bindTo(registry);
                return registry.get(EngineMeter.TRANSFER_DURATION.meterName())
                                .functionTimers()
                                .size()
                        + " timers";
            }
        }
    }

    @Test
    void allButPrometheusHistogramsIsThere() throws Exception {
        URL[] classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator, -1))
                .filter(entry -> !Path.of(entry).getFileName().toString().contains("prometheus"))
                .map(WithoutPrometheusTest::url)
                .toArray(URL[]::new);
        try (URLClassLoader loader = new URLClassLoader(classPath, ClassLoader.getPlatformClassLoader())) {
            assertThatThrownBy(() -> loader.loadClass("io.micrometer.prometheusmetrics.PrometheusMeterRegistry"))
                    .isInstanceOf(ClassNotFoundException.class);
            Object service =
                    loader.loadClass(Service.class.getName()).getConstructor().newInstance();
            assertThat(((Callable<?>) service).call()).isEqualTo("6 timers");
        }
    }

    private static URL url(String entry) {
        try {
            return Path.of(entry).toUri().toURL();
        } catch (MalformedURLException e) {
            throw new AssertionError(e);
        }
    }
}
