package io.sluice.samples.command;

import io.sluice.samples.cluster.ClusterTally;
import io.sluice.samples.report.ByteSize;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Locale;

/** Tells how a demonstration goes: what happens, when it does, and how much was moved, from time to time. */
final class DemoProgress {

    private static final double NANOS = Duration.ofSeconds(1).toNanos();
    private static final long LINES = 30;

    private final PrintWriter out;
    private final ClusterTally tally;
    private final long intervalNanos;
    private final long startNanos = System.nanoTime();
    private long lastNanos = startNanos;
    private long lastBytes;

    /**
     * Begins now.
     *
     * @param duration how long it will take, about
     */
    DemoProgress(PrintWriter out, ClusterTally tally, Duration duration) {
        this.out = out;
        this.tally = tally;
        this.intervalNanos = Math.max(Duration.ofSeconds(1).toNanos(), duration.toNanos() / LINES);
    }

    Duration elapsed() {
        return Duration.ofNanos(System.nanoTime() - startNanos);
    }

    void tell(String what) {
        print(System.nanoTime(), what);
    }

    /** To be called often: says how much was moved, if it is time for that. */
    void update() {
        long now = System.nanoTime();
        long since = now - lastNanos;
        if (since < intervalNanos) {
            return;
        }
        long bytes = tally.bytes();
        print(
                now,
                String.format(
                        Locale.ROOT,
                        "%,d moves, %s, %.2f GB/s",
                        tally.moves(),
                        ByteSize.format(bytes),
                        // Bytes a nanosecond are 10^9 bytes a second.
                        (double) (bytes - lastBytes) / since));
        lastNanos = now;
        lastBytes = bytes;
    }

    private void print(long now, String what) {
        out.printf(Locale.ROOT, "%6.1f s  %s%n", (now - startNanos) / NANOS, what);
        out.flush();
    }
}
