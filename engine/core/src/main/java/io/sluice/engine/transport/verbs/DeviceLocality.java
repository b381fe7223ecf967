package io.sluice.engine.transport.verbs;

import io.sluice.jni.MachineFacts;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/** How close a device is to a location: by the PCIe tree, or by NUMA node. */
final class DeviceLocality {
    private static final String NUMA = "numa:";
    private static final Path NODES = Path.of("/sys/devices/system/node");

    private final @Nullable Path bus;
    private final int node;

    private DeviceLocality(@Nullable Path bus, int node) {
        this.bus = bus;
        this.node = node;
    }

    /**
     * Creates the locality of the place in the options, or of the processors that this process may use.
     *
     * @throws IllegalArgumentException if the place does not exist
     */
    static DeviceLocality to(@Nullable String place) {
        if (place == null) {
            return new DeviceLocality(null, ownNode());
        }
        if (place.startsWith(NUMA)) {
            try {
                return new DeviceLocality(null, Integer.parseInt(place.substring(NUMA.length())));
            } catch (NumberFormatException e) {
                throw new IllegalArgumentException("'" + place + "' does not end with the number of a NUMA node", e);
            }
        }
        Path pci = Sysfs.pci(place);
        if (pci == null) {
            throw new IllegalArgumentException("'" + place + "' is neither numa:NODE nor the address of a PCIe device"
                    + " of this machine, such as 0000:17:00.0");
        }
        return new DeviceLocality(pci, -1);
    }

    /** The closeness of a device: more is closer, 0 is unknown. */
    int of(String device) {
        Path place = bus;
        if (place != null) {
            Path other = Sysfs.bus(device);
            return other == null ? 0 : shared(place, other);
        }
        return node >= 0 && Sysfs.numaNode(device) == node ? 1 : 0;
    }

    /** The number of leading path components in common: more shared bridges mean closer. */
    static int shared(Path one, Path other) {
        int count = 0;
        while (count < Math.min(one.getNameCount(), other.getNameCount())
                && one.getName(count).equals(other.getName(count))) {
            count++;
        }
        return count;
    }

    /** The single NUMA node of the processors that this process may use, or −1 if there are several. */
    private static int ownNode() {
        String status = Sysfs.read(Path.of("/proc/self/status"));
        if (status == null) {
            return -1;
        }
        int found = -1;
        try (DirectoryStream<Path> nodes = Files.newDirectoryStream(NODES, "node[0-9]*")) {
            BitSet allowed = MachineFacts.processors(status.lines()
                    .filter(line -> line.startsWith("Cpus_allowed_list:"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse(""));
            for (Path each : nodes) {
                String list = Sysfs.read(each.resolve("cpulist"));
                if (list != null && MachineFacts.processors(list).intersects(allowed)) {
                    if (found >= 0) {
                        return -1;
                    }
                    found = Integer.parseInt(each.getFileName().toString().substring("node".length()));
                }
            }
        } catch (IOException | IllegalArgumentException e) {
            return -1;
        }
        return found;
    }
}
