package io.sluice.testkit;

import static org.assertj.core.api.Assertions.fail;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The descriptors of this process that leaks show in: sockets, epolls and event descriptors. */
public final class OpenDescriptors {
    private static final Path ALL = Path.of("/proc/self/fd");

    static {
        // The platform's own sockets keep one descriptor for the whole process once the first of them is opened.
        try {
            new ServerSocket(0, 1, InetAddress.getLoopbackAddress()).close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private OpenDescriptors() {}

    /**
     * Counts them.
     *
     * @return how many are open
     */
    public static int count() {
        return list().size();
    }

    private static List<String> list() {
        try (Stream<Path> all = Files.list(ALL)) {
            return all.map(OpenDescriptors::target)
                    .filter(target -> target.startsWith("socket:") || target.startsWith("anon_inode:"))
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

    /**
     * Waits until descriptors opened since are closed: the last close may still be running on another thread.
     *
     * @param before how many were open
     */
    public static void assertSettleAt(int before) {
        try {
            Patience.until("descriptors are closed", () -> count() <= before);
        } catch (AssertionError e) {
            fail("there were " + before + " descriptors, and now there are " + list(), e);
        }
    }
}
