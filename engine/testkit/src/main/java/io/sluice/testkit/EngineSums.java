package io.sluice.testkit;

import io.sluice.engine.PollerMetrics;
import io.sluice.engine.TransferEngine;
import io.sluice.engine.TransportMetrics;
import java.util.function.ToLongFunction;

/** Figures of an engine over all its transports or pollers. */
public final class EngineSums {
    private EngineSums() {}

    /**
     * Over the transports.
     *
     * @param engine whose
     * @param figure of each
     * @return the sum
     */
    public static long ofTransports(TransferEngine engine, ToLongFunction<TransportMetrics> figure) {
        return engine.metrics().transports().stream().mapToLong(figure).sum();
    }

    /**
     * Over the pollers.
     *
     * @param engine whose
     * @param figure of each
     * @return the sum
     */
    public static long ofPollers(TransferEngine engine, ToLongFunction<PollerMetrics> figure) {
        return engine.metrics().pollers().stream().mapToLong(figure).sum();
    }
}
