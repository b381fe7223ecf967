package io.sluice.metrics;

import io.sluice.engine.PortMetrics;
import java.util.Map;

/** One reading of a port's counters, shared by all meters that are read at about the same time. */
final class PortReading {
    private static final long FRESH_NANOS = 200_000_000;

    private final PortMetrics port;
    private Map<String, Long> counters = Map.of();
    private long readAt = System.nanoTime() - FRESH_NANOS;

    PortReading(PortMetrics port) {
        this.port = port;
    }

    synchronized double value(String counter) {
        if (System.nanoTime() - readAt >= FRESH_NANOS) {
            counters = port.counters();
            readAt = System.nanoTime();
        }
        Long value = counters.get(counter);
        return value == null ? Double.NaN : value;
    }
}
