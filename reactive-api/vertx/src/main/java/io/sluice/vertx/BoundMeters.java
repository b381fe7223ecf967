package io.sluice.vertx;

import io.micrometer.core.instrument.MeterRegistry;
import io.sluice.engine.TransferEngine;
import io.sluice.metrics.EngineMeters;

/** The only class that needs Micrometer and {@code sluice-metrics}. */
final class BoundMeters {
    private BoundMeters() {}

    static AutoCloseable bind(Object registry, TransferEngine engine, int peers) {
        EngineMeters meters = EngineMeters.builder(engine).peers(peers).build();
        meters.bindTo((MeterRegistry) registry);
        return meters;
    }
}
