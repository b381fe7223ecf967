package io.sluice.engine.transport.verbs;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The kernel's data on RDMA devices that libibverbs does not provide. Any of it may be absent. */
final class Sysfs {
    private static final Path DEVICES = Path.of("/sys/class/infiniband");
    private static final Path PCI = Path.of("/sys/bus/pci/devices");
    private static final Pattern PCI_ADDRESS =
            Pattern.compile("\\p{XDigit}{4,8}:\\p{XDigit}{2}:\\p{XDigit}{2}\\.[0-7]");

    private Sysfs() {}

    /** The NUMA node of a device, or −1. */
    static int numaNode(String device) {
        String text = read(DEVICES.resolve(device).resolve("device/numa_node"));
        try {
            return text == null ? -1 : Integer.parseInt(text);
        } catch (NumberFormatException e) {
            return -1;
        }
    }

    /** The device's path in the bus tree, or null if it has none, such as softRoCE. */
    static @Nullable Path bus(String device) {
        return real(DEVICES.resolve(device).resolve("device"));
    }

    /** The path of a PCIe device, or null. */
    static @Nullable Path pci(String address) {
        // an empty name, or one with dots, would be an existing folder
        return PCI_ADDRESS.matcher(address).matches() ? real(PCI.resolve(address)) : null;
    }

    private static @Nullable Path real(Path link) {
        try {
            return link.toRealPath();
        } catch (IOException e) {
            return null;
        }
    }

    /** The type of an entry of a port's GID table, such as {@code RoCE v2}; or null. */
    static @Nullable String gidType(String device, int port, int index) {
        return read(DEVICES.resolve(device + "/ports/" + port + "/gid_attrs/types/" + index));
    }

    /** The counters of a port by the driver's names; empty if there are none. */
    static Map<String, Long> portCounters(String device, int port) {
        Path folder = DEVICES.resolve(device + "/ports/" + port);
        Map<String, Long> found = new TreeMap<>();
        addCounters(folder.resolve("counters"), found);
        addCounters(folder.resolve("hw_counters"), found);
        return found;
    }

    /** Adds the counters in a folder, one number a file, unless already present. */
    static void addCounters(Path folder, Map<String, Long> found) {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                String name = String.valueOf(file.getFileName());
                // a kernel setting among the counters
                Long value = name.equals("lifespan") ? null : number(read(file));
                if (value != null) {
                    found.putIfAbsent(name, value);
                }
            }
        } catch (IOException | DirectoryIteratorException absent) {
            // the device has no counters, or has been removed
        }
    }

    private static @Nullable Long number(@Nullable String text) {
        try {
            return text == null ? null : Long.parseUnsignedLong(text) & Long.MAX_VALUE;
        } catch (NumberFormatException e) {
            // some ports report N/A for some counters
            return null;
        }
    }

    /** The text of a small file, or null. */
    static @Nullable String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return null;
        }
    }
}
