package io.sluice.engine;

import java.util.Map;

/** A port of a device, with the counters that it keeps itself. Any thread. */
public interface PortMetrics {
    /**
     * The device.
     *
     * @return its name, as {@code mlx5_0}
     */
    String device();

    /**
     * The port.
     *
     * @return its number, from 1
     */
    int port();

    /**
     * Reads the counters: files of the kernel's, a system call or two for each.
     *
     * @return values by the driver's own names; empty where the device keeps none
     */
    Map<String, Long> counters();
}
