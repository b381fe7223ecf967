package io.sluice.engine.transport.verbs;

import io.sluice.engine.TransportUnavailableException;
import io.sluice.jni.VerbsDevice;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A port to use.
 *
 * @param device the device's name
 * @param port the port's number
 */
record PortChoice(String device, int port) {
    private static final String ALL = "all";

    /**
     * Chooses ports by the options.
     *
     * @param distances how far a device is from those whose memory the engine carries besides the host's, as {@link
     *     io.sluice.engine.transport.TransportProvider#distanceTo} says: where the options name no place, the nearest is the default
     * @throws TransportUnavailableException if no device fits; the message names those found
     */
    static List<PortChoice> choose(VerbsOptions options, ToLongFunction<String> distances) {
        String[] names = VerbsDevice.names();
        if (names.length == 0) {
            throw new TransportUnavailableException(
                    "there is no RDMA device (ibv_devices shows none); is the driver loaded,"
                            + " and may this process see /dev/infiniband?");
        }
        Arrays.sort(names);
        List<String> asked = options.devices();
        if (asked.isEmpty() || asked.equals(List.of(ALL))) {
            List<PortChoice> active = new ArrayList<>();
            for (String name : names) {
                firstActive(name).stream().forEach(active::add);
            }
            if (active.isEmpty()) {
                throw new TransportUnavailableException("no port is active of the RDMA devices "
                        + String.join(", ", names) + " (ibv_devinfo shows why)");
            }
            return asked.isEmpty() ? List.of(nearest(active, options.near(), distances)) : active;
        }
        return asked.stream()
                .map(text -> named(text, List.of(names)))
                .distinct()
                .toList();
    }

    /**
     * Describes the available ports for display.
     *
     * @throws TransportUnavailableException if there is none
     */
    static List<String> describeActive() {
        return choose(VerbsOptions.builder().devices(ALL).build(), device -> Long.MAX_VALUE).stream()
                .map(PortChoice::describe)
                .toList();
    }

    private String describe() {
        long opened = VerbsDevice.open(device);
        if (opened < 0) {
            return device;
        }
        try {
            Port details = Port.query(opened, device, port);
            int node = Sysfs.numaNode(device);
            return device + " port " + port + ", " + (details.ethernet() ? "RoCE" : "InfiniBand") + ", MTU "
                    + details.mtu() + (node < 0 ? "" : ", NUMA node " + node);
        } finally {
            VerbsDevice.close(opened);
        }
    }

    private static PortChoice nearest(
            List<PortChoice> choices, @Nullable String place, ToLongFunction<String> distances) {
        DeviceLocality nearness = DeviceLocality.to(place);
        Comparator<PortChoice> byPlace = Comparator.comparingInt((PortChoice choice) -> nearness.of(choice.device()))
                .reversed();
        Comparator<PortChoice> order = place != null
                ? byPlace
                : Comparator.comparingLong((PortChoice choice) -> distances.applyAsLong(choice.device()))
                        .thenComparing(byPlace);
        // the first among equals
        return choices.stream().sorted(order).findFirst().orElseThrow();
    }

    private static PortChoice named(String text, List<String> names) {
        int colon = text.lastIndexOf(':');
        String device = colon < 0 ? text : text.substring(0, colon);
        if (!names.contains(device)) {
            throw new TransportUnavailableException("there is no RDMA device '" + device
                    + "' (SLUICE_VERBS_DEVICES); there are " + String.join(", ", names));
        }
        if (colon < 0) {
            return firstActive(device)
                    .orElseThrow(() -> new TransportUnavailableException(
                            "no port of the RDMA device " + device + " is active (ibv_devinfo shows why)"));
        }
        try {
            return new PortChoice(device, Integer.parseInt(text.substring(colon + 1)));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("'" + text + "' is not DEVICE or DEVICE:PORT (SLUICE_VERBS_DEVICES)", e);
        }
    }

    private static Optional<PortChoice> firstActive(String name) {
        long device = VerbsDevice.open(name);
        if (device < 0) {
            return Optional.empty();
        }
        try {
            int ports = DeviceLimits.query(device, name).ports();
            for (int port = 1; port <= ports; port++) {
                if (Port.query(device, name, port).isActive()) {
                    return Optional.of(new PortChoice(name, port));
                }
            }
            return Optional.empty();
        } finally {
            VerbsDevice.close(device);
        }
    }
}
