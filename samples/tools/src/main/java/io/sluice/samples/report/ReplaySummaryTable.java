package io.sluice.samples.report;

import java.util.Locale;

/** A replay's summary as a table for people. */
public final class ReplaySummaryTable {

    private final StringBuilder text = new StringBuilder();

    private ReplaySummaryTable() {}

    /** The table, several lines each ending in a line feed. */
    public static String render(ReplaySummary summary) {
        ReplaySummaryTable table = new ReplaySummaryTable();
        table.row("model", summary.model());
        table.row("transport", summary.transport());
        table.row("requests", count(summary.requests()) + (summary.interrupted() ? " (interrupted)" : ""));
        if (summary.traceLinesSkipped() > 0) {
            table.row("trace lines skipped", count(summary.traceLinesSkipped()));
        }
        table.row("pages moved", count(summary.pagesMoved()));
        table.row("pages reused", count(summary.pagesReused()));
        table.row("cache hits", decimal("%.1f %%", 100 * summary.cacheHitRate()));
        table.row("corrupted pages", count(summary.corruptedPages()));
        table.row("bytes moved", bytes(summary.bytes()));
        table.row("of them pages", bytes(summary.pageBytes()));
        table.row("time", decimal("%.3f s", summary.seconds()));
        table.row("throughput", decimal("%.3f GB/s", summary.gigabytesPerSecond()));
        Double writes = summary.writeGigabytesPerSecond();
        if (writes != null) {
            table.row("writes alone", decimal("%.3f GB/s", writes));
        }
        table.row("transfer p50", millis(summary.transferMillis().p50()));
        table.row("transfer p90", millis(summary.transferMillis().p90()));
        table.row("transfer p99", millis(summary.transferMillis().p99()));
        table.row("transfer max", millis(summary.transferMillis().max()));
        table.row(
                "most in flight",
                count(summary.maxInflightOps()) + " operations, " + ByteSize.format(summary.maxInflightBytes()));
        if (summary.reconnects() > 0) {
            table.row("reconnects", count(summary.reconnects()));
            table.row("requests repeated", count(summary.requestsRepeated()));
            table.row("pages repeated", count(summary.pagesRepeated()));
        }
        return table.text.toString();
    }

    private void row(String label, String value) {
        text.append(String.format(Locale.ROOT, "%-20s %s\n", label, value));
    }

    private static String count(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    private static String bytes(long value) {
        return count(value) + " (" + ByteSize.format(value) + ")";
    }

    private static String millis(double value) {
        return decimal("%.3f ms", value);
    }

    private static String decimal(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }
}
