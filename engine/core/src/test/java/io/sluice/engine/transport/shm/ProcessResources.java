package io.sluice.engine.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * This process's share of the system resources that a shm connection takes.
 *
 * @param descriptors sockets, epolls, event and process descriptors, and anonymous files
 * @param regionMappings mappings of regions' files
 * @param controlMappings mappings of control segments
 * @param sharedFiles files in {@code /dev/shm} that bear the project's name, of any process
 * @param meetingPoints Unix sockets of this process that have a name of the project's
 * @param threads Java's threads, but for those that wait for child processes
 */
record ProcessResources(
        int descriptors,
        long regionMappings,
        long controlMappings,
        long sharedFiles,
        long meetingPoints,
        long threads) {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");
    private static final Path SHARED = Path.of("/dev/shm");

    static {
        // The platform's own sockets keep one descriptor for the whole process once the first of them is opened.
        try {
            new ServerSocket(0, 1, InetAddress.getLoopbackAddress()).close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static ProcessResources now() {
        List<String> open = openFiles();
        return new ProcessResources(
                open.size(),
                mappings("sluice-region"),
                mappings("sluice-control"),
                sharedFilesNow(),
                meetingPointsAmong(open),
                threadsNow());
    }

    /** How many mappings of this process have such a name. */
    static long mappings(String name) {
        return count(Path.of("/proc/self/maps"), line -> line.contains(name));
    }

    /** The targets of this process's descriptors. */
    static List<String> openFiles() {
        try (Stream<Path> all = Files.list(DESCRIPTORS)) {
            return all.map(ProcessResources::target)
                    .filter(target -> target.startsWith("socket:")
                            || target.startsWith("anon_inode:")
                            || target.startsWith("pipe:")
                            || target.startsWith("/memfd:"))
                    .sorted()
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException closedMeanwhile) {
            return "";
        }
    }

    private static long meetingPointsAmong(List<String> open) {
        Set<String> own = open.stream()
                .filter(target -> target.startsWith("socket:["))
                .map(target -> target.substring("socket:[".length(), target.length() - 1))
                .collect(Collectors.toSet());
        return count(Path.of("/proc/net/unix"), line -> {
            String[] fields = line.strip().split(" +");
            return fields.length == 8 && fields[7].contains("sluice-") && own.contains(fields[6]);
        });
    }

    private static long sharedFilesNow() {
        try (Stream<Path> all = Files.list(SHARED)) {
            return all.filter(file -> file.getFileName().toString().contains("sluice"))
                    .count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long threadsNow() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !thread.getName().startsWith("process reaper"))
                .count();
    }

    private static long count(Path file, Predicate<String> line) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.filter(line).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Resources taken since are released soon: the last release may still be running on another thread. */
    void assertRegained() {
        try {
            Patience.until("everything is given back", () -> now().isWithin(this));
        } catch (AssertionError e) {
            assertThat(now()).as("open: %s", openFiles()).isEqualTo(this);
        }
    }

    private boolean isWithin(ProcessResources before) {
        return descriptors <= before.descriptors
                && regionMappings <= before.regionMappings
                && controlMappings <= before.controlMappings
                && sharedFiles <= before.sharedFiles
                && meetingPoints <= before.meetingPoints
                && threads <= before.threads;
    }
}
