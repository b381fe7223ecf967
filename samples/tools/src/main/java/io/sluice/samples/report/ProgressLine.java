package io.sluice.samples.report;

import java.io.Console;
import java.io.PrintStream;
import java.util.Locale;
import java.util.function.LongSupplier;

/**
 * Shows the progress of a replay: on a terminal as one line that is rewritten, elsewhere as a plain line after the
 * first second, and then every few seconds. It may be updated as often as is convenient, from any thread; it decides
 * itself when to write.
 */
public final class ProgressLine {
    private static final long TERMINAL_INTERVAL_NANOS = 200_000_000L;
    private static final long FIRST_PLAIN_INTERVAL_NANOS = 1_000_000_000L;
    private static final long PLAIN_INTERVAL_NANOS = 5_000_000_000L;

    private final PrintStream out;
    private final boolean terminal;
    private final LongSupplier nanoTime;
    private final long startNanos;
    private long intervalNanos;
    private long lastNanos;
    private long lastBytes;
    private int lastLength;
    private boolean finished;

    public ProgressLine(PrintStream out, boolean terminal) {
        this(out, terminal, System::nanoTime);
    }

    ProgressLine(PrintStream out, boolean terminal, LongSupplier nanoTime) {
        this.out = out;
        this.terminal = terminal;
        this.nanoTime = nanoTime;
        this.startNanos = nanoTime.getAsLong();
        this.lastNanos = startNanos;
        this.intervalNanos = terminal ? TERMINAL_INTERVAL_NANOS : FIRST_PLAIN_INTERVAL_NANOS;
    }

    /** Whether this process talks to a terminal: its standard input and output are both connected to one. */
    public static boolean onTerminal() {
        Console console = System.console();
        return console != null && console.isTerminal();
    }

    /** Takes note of the progress, and writes it if enough time has passed since the last time. */
    public synchronized void update(Progress progress) {
        long now = nanoTime.getAsLong();
        if (finished || now - lastNanos < intervalNanos) {
            return;
        }
        intervalNanos = terminal ? TERMINAL_INTERVAL_NANOS : PLAIN_INTERVAL_NANOS;
        double rate = gigabytesPerSecond(progress.bytesMoved() - lastBytes, now - lastNanos);
        lastNanos = now;
        lastBytes = progress.bytesMoved();
        write(describe(progress, rate));
    }

    /**
     * Writes the final progress, with the mean rate since the start, and ends the line. Nothing is written after it.
     */
    public synchronized void finish(Progress progress) {
        if (finished) {
            return;
        }
        finished = true;
        write(describe(progress, gigabytesPerSecond(progress.bytesMoved(), nanoTime.getAsLong() - startNanos)));
        if (terminal) {
            out.print('\n');
            out.flush();
        }
    }

    private void write(String line) {
        if (terminal) {
            // Blanks over what a longer line has left behind; no escape sequences, which not every terminal knows.
            out.print("\r" + line + " ".repeat(Math.max(0, lastLength - line.length())));
            lastLength = line.length();
        } else {
            out.print(line + "\n");
        }
        out.flush();
    }

    private static String describe(Progress progress, double gigabytesPerSecond) {
        String total = progress.requestsTotal() == Progress.UNKNOWN ? "" : "/" + progress.requestsTotal();
        return String.format(
                Locale.ROOT,
                "%d%s requests, %.2f GB/s, %d in flight, %.1f %% cache hits",
                progress.requestsDone(),
                total,
                gigabytesPerSecond,
                progress.inFlight(),
                100 * ReplaySummary.hitRate(progress.pagesMoved(), progress.pagesReused()));
    }

    private static double gigabytesPerSecond(long bytes, long nanos) {
        // Bytes a nanosecond are 10^9 bytes a second.
        return nanos > 0 ? (double) bytes / nanos : 0;
    }

    /**
     * How far a replay has come.
     *
     * @param requestsTotal requests there are, or {@link #UNKNOWN}
     * @param pagesMoved pages transferred so far, over all layers
     * @param pagesReused pages found in the cache so far, over all layers
     */
    public record Progress(
            long requestsDone, long requestsTotal, long bytesMoved, long inFlight, long pagesMoved, long pagesReused) {
        /** Stands for a number of requests that is not known before the end of the trace. */
        public static final long UNKNOWN = -1;
    }
}
