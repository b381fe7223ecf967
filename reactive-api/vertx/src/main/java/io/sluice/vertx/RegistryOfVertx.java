package io.sluice.vertx;

import io.micrometer.core.instrument.MeterRegistry;
import io.sluice.engine.TransferEngine;
import io.sluice.metrics.EngineMeters;
import io.vertx.core.Vertx;
import org.jspecify.annotations.Nullable;

/** The meter registry of Vert.x metrics, if those are enabled and their classes are present. */
final class RegistryOfVertx {
    /**
     * By reflection: the Vert.x metrics module requires the web server module, and applications should compile without
     * it.
     */
    private static final String REGISTRIES = "io.vertx.micrometer.backends.BackendRegistries";

    private RegistryOfVertx() {}

    /**
     * Registers an engine's meters.
     *
     * @return an action that unregisters them, or {@code null} if there is no registry
     */
    static @Nullable AutoCloseable bind(Vertx vertx, TransferEngine engine, TransferClientOptions options) {
        if (!options.isMetricsEnabled() || !vertx.isMetricsEnabled()) {
            return null;
        }
        Object registry;
        try {
            Class.forName("io.sluice.metrics.EngineMeters", false, RegistryOfVertx.class.getClassLoader());
            registry = Class.forName(REGISTRIES, true, vertx.getClass().getClassLoader())
                    .getMethod("getNow", String.class)
                    .invoke(null, options.getMetricsRegistryName());
        } catch (ReflectiveOperationException | LinkageError absent) {
            return null;
        }
        return registry == null ? null : BoundMeters.bind(registry, engine, options.getMetricsPeers());
    }

    /** The only class that needs Micrometer and {@code sluice-metrics}; loaded only if both are present. */
    private static final class BoundMeters {
        static AutoCloseable bind(Object registry, TransferEngine engine, int peers) {
            EngineMeters meters = EngineMeters.builder(engine).peers(peers).build();
            meters.bindTo((MeterRegistry) registry);
            return meters;
        }
    }
}
