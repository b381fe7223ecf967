package io.sluice.vertx;

import io.micrometer.core.instrument.MeterRegistry;
import io.sluice.engine.TransferEngine;
import io.sluice.metrics.EngineMeters;
import io.vertx.core.Vertx;
import org.jspecify.annotations.Nullable;

/** The meter registry that Vert.x' own metrics go to, if there are any and the classes for it are there. */
final class RegistryOfVertx {
    /**
     * By reflection: the module of Vert.x' metrics needs that of its web server, and users of this one should compile without it.
     */
    private static final String REGISTRIES = "io.vertx.micrometer.backends.BackendRegistries";

    private RegistryOfVertx() {}

    /**
     * Registers an engine's meters.
     *
     * @return what unregisters them, or {@code null} if there is nowhere to register them
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

    /** The only class that needs Micrometer and {@code sluice-metrics}; loaded only if both are there. */
    private static final class BoundMeters {
        static AutoCloseable bind(Object registry, TransferEngine engine, int peers) {
            EngineMeters meters = EngineMeters.builder(engine).peers(peers).build();
            meters.bindTo((MeterRegistry) registry);
            return meters;
        }
    }
}
