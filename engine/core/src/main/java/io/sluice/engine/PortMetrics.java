package io.sluice.engine;

import java.util.Map;

/** A port of a device and the counters that it keeps. All methods may be called from any thread. */
public interface PortMetrics {
    /**
     * Returns the name of the device.
     *
     * @return such as {@code mlx5_0}
     */
    String device();

    /**
     * Returns the number of the port.
     *
     * @return the number, from 1
     */
    int port();

    /**
     * Reads the counters from files of the kernel, with a system call or two for each.
     *
     * @return the values by the driver's names; empty if the device keeps no counters
     */
    Map<String, Long> counters();
}
