package io.sluice.engine.session;

import io.sluice.testkit.Patience;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The descriptors of this process that an engine could have opened: files and jars, which the class loader opens, are not. */
final class OpenDescriptors {
    private static final long PATIENCE_NANOS = Patience.BOUND.toNanos();
    private static final long SETTLED_NANOS = 300_000_000L;
    private static final Path ALL = Path.of("/proc/self/fd");

    private OpenDescriptors() {}

    static long count() {
        List<Path> links;
        try (Stream<Path> all = Files.list(ALL)) {
            links = all.toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return links.stream().filter(OpenDescriptors::isAnEngines).count();
    }

    private static boolean isAnEngines(Path link) {
        try {
            String target = Files.readSymbolicLink(link).toString();
            return target.startsWith("socket:") || target.startsWith("anon_inode:");
        } catch (IOException e) {
            // It was closed meanwhile.
            return false;
        }
    }

    /** The count, once what other tests left has closed. */
    static long settledCount() throws InterruptedException {
        long start = System.nanoTime();
        long count = count();
        long since = start;
        while (System.nanoTime() - since < SETTLED_NANOS && System.nanoTime() - start < PATIENCE_NANOS) {
            Thread.sleep(10);
            long next = count();
            if (next != count) {
                count = next;
                since = System.nanoTime();
            }
        }
        return count;
    }

    /** The count, once it is low enough or no longer falls in time. */
    static long countOnceAtMost(long wanted) throws InterruptedException {
        long start = System.nanoTime();
        long count = count();
        while (count > wanted && System.nanoTime() - start < PATIENCE_NANOS) {
            Thread.sleep(10);
            count = count();
        }
        return count;
    }
}
