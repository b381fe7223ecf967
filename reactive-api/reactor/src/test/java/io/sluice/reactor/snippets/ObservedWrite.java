package io.sluice.reactor.snippets;

import io.micrometer.observation.ObservationRegistry;
import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.reactor.ReactiveConnection;
import io.sluice.reactor.observation.ObservedTransfers;

/** A transfer that is observed, for the page about metrics. */
final class ObservedWrite {
    private ObservedWrite() {}

    static void write(
            ObservationRegistry observationRegistry,
            ReactiveConnection connection,
            MemoryRegion source,
            RemoteRegion remote) {
        // begin
        ObservedTransfers observed = ObservedTransfers.in(observationRegistry);
        connection.write(source, remote, 0).transform(observed.mono(connection, Operation.WRITE));
        // end
    }
}
