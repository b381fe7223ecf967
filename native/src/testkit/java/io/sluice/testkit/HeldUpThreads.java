package io.sluice.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Watches how long threads of this process could have run and had no processor, by the scheduler's counts of each.
 * Waits that the kernel does not count are ignored.
 */
final class HeldUpThreads implements AutoCloseable {
    private static final Path THREADS = Path.of("/proc/self/task");
    private static final long PERIOD_MILLIS = 100;

    private final Map<String, Wait> waits = new HashMap<>();
    private final Thread watcher;
    private volatile boolean closed;
    private volatile long longestNanos;

    /** The counts of one thread: the last ones, and since when it waits without having run. */
    private static final class Wait {
        private long ran;
        private long waited;
        private long since;
    }

    HeldUpThreads() {
        look(System.nanoTime());
        watcher = Thread.ofPlatform().daemon().name("held-up-threads").start(this::watch);
    }

    /** Ends the watch. The longest that one of them has waited in one piece, to about a tenth of a second. */
    Duration longest() {
        close();
        return Duration.ofNanos(longestNanos);
    }

    @Override
    public void close() {
        closed = true;
        watcher.interrupt();
        Patience.join(watcher);
    }

    private void watch() {
        long last = System.nanoTime();
        while (!closed) {
            try {
                Thread.sleep(PERIOD_MILLIS);
            } catch (InterruptedException e) {
                // it is closed
            }
            long now = System.nanoTime();
            // of a machine that stood still nothing is counted
            longer(now - last - PERIOD_MILLIS * 1_000_000);
            last = now;
            look(now);
        }
        look(System.nanoTime());
    }

    private void look(long now) {
        Set<String> alive = new HashSet<>();
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(THREADS)) {
            for (Path thread : threads) {
                String id = thread.getFileName().toString();
                alive.add(id);
                look(thread, waits.computeIfAbsent(id, unknown -> new Wait()), now);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        waits.keySet().retainAll(alive);
    }

    private void look(Path thread, Wait wait, long now) {
        String[] counts;
        boolean runnable;
        try {
            counts = text(thread.resolve("schedstat")).split(" ");
            String stat = text(thread.resolve("stat"));
            // after the name, which may hold anything
            runnable = stat.startsWith(") R", stat.lastIndexOf(')'));
        } catch (IOException gone) {
            return;
        }
        if (counts.length < 2) {
            return;
        }
        long ran = Long.parseLong(counts[0]);
        long waited = Long.parseLong(counts[1]);
        if (ran == 0 && waited == 0) {
            // a kernel that does not count
            return;
        }
        boolean known = wait.since != 0;
        if (known) {
            // a wait is counted when it ends; several short ones take no longer than what lies between two looks
            longer(waited - wait.waited);
        }
        if (!known || ran != wait.ran || waited != wait.waited || !runnable) {
            wait.since = now;
        } else {
            longer(now - wait.since);
        }
        wait.ran = ran;
        wait.waited = waited;
    }

    private static String text(Path file) throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).strip();
    }

    private void longer(long nanos) {
        if (nanos > longestNanos) {
            longestNanos = nanos;
        }
    }
}
