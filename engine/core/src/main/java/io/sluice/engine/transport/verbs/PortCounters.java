package io.sluice.engine.transport.verbs;

import io.sluice.engine.PortMetrics;
import java.util.Map;

/**
 * A port's counters, as the kernel reports them.
 *
 * @param device the device's name
 * @param port the port number, from 1
 */
record PortCounters(String device, int port) implements PortMetrics {
    @Override
    public Map<String, Long> counters() {
        return Sysfs.portCounters(device, port);
    }
}
