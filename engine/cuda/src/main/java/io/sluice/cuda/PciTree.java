package io.sluice.cuda;

import io.sluice.cuda.GpuInfo.NearDevice;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Where devices are in the tree of PCI bridges, as sysfs tells it. Any thread. */
final class PciTree {
    private static final String UNKNOWN_NODE = "-1";
    private static final int DOMAIN_DIGITS = 4;

    /** Ranks of what two devices have in common; between those of one rank the bridges on the way decide. */
    private static final int SWITCH = 0;

    private static final int HOST_BRIDGE = 1;
    private static final int NODE = 2;
    private static final int NOTHING = 3;
    private static final List<String> PLACES = List.of(
            "behind the same PCI switch", "at the same host bridge", "at the same NUMA node", "at another NUMA node");

    /** Another folder than {@code /sys}, for tests. */
    static final String SYSTEM_PROPERTY = "sluice.cuda.sysfs";

    private final Path system;

    /** Of the folder where sysfs is. */
    PciTree(Path system) {
        this.system = system;
    }

    /** Of this machine. */
    static PciTree ofMachine() {
        return new PciTree(Path.of(System.getProperty(SYSTEM_PROPERTY, "/sys")));
    }

    /** A driver's text for a place, as sysfs has it: in lower case, and the domain with four digits. */
    static String address(String text) {
        String lower = text.toLowerCase(Locale.ROOT);
        int domain = lower.indexOf(':');
        return domain > DOMAIN_DIGITS && lower.startsWith("0".repeat(domain - DOMAIN_DIGITS))
                ? lower.substring(domain - DOMAIN_DIGITS)
                : lower;
    }

    /** The RDMA device that is nearest to what is at an address; of several as near the first by name. */
    @Nullable
    NearDevice nearestRdmaDevice(String address) {
        List<Path> devices = new ArrayList<>();
        try (DirectoryStream<Path> all = Files.newDirectoryStream(system.resolve("class/infiniband"))) {
            all.forEach(devices::add);
        } catch (IOException | SecurityException e) {
            // the system has none, or does not show them
            return null;
        }
        Collections.sort(devices);
        NearDevice nearest = null;
        long least = Long.MAX_VALUE;
        for (Path device : devices) {
            String name = device.getFileName().toString();
            long distance = distance(address, name);
            if (distance < least) {
                least = distance;
                nearest = new NearDevice(name, PLACES.get((int) (distance >> Integer.SIZE)));
            }
        }
        return nearest;
    }

    /** From what is at an address to an RDMA device: less is nearer; {@link Long#MAX_VALUE} if the system does not tell. */
    long distance(String address, String rdmaDevice) {
        Path from = real(system.resolve("bus/pci/devices").resolve(address));
        Path to = real(system.resolve("class/infiniband").resolve(rdmaDevice).resolve("device"));
        return from == null || to == null
                ? Long.MAX_VALUE
                : ((long) rank(from, to) << Integer.SIZE)
                        + from.getNameCount()
                        + to.getNameCount()
                        - 2L * common(from, to);
    }

    private static @Nullable Path real(Path link) {
        try {
            return link.toRealPath();
        } catch (IOException | SecurityException e) {
            return null;
        }
    }

    private int rank(Path from, Path to) {
        // sys/devices/pci0000:00 is a host bridge
        Path root = real(system);
        int bridge = (root == null ? 0 : root.getNameCount()) + 2;
        int common = common(from, to);
        if (common > bridge) {
            return SWITCH;
        }
        if (common == bridge) {
            return HOST_BRIDGE;
        }
        String node = node(from);
        return node.equals(UNKNOWN_NODE) || !node.equals(node(to)) ? NOTHING : NODE;
    }

    private static int common(Path one, Path other) {
        int most = Math.min(one.getNameCount(), other.getNameCount());
        int common = 0;
        while (common < most && one.getName(common).equals(other.getName(common))) {
            common++;
        }
        return common;
    }

    private static String node(Path device) {
        try {
            return Files.readString(device.resolve("numa_node")).strip();
        } catch (IOException | SecurityException e) {
            return UNKNOWN_NODE;
        }
    }
}
