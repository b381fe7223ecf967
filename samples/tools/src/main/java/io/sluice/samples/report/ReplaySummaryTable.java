package io.sluice.samples.report;

/** A replay's summary as a table for people. */
public final class ReplaySummaryTable {

    private ReplaySummaryTable() {}

    /** The table, several lines each ending in a line feed. */
    public static String render(ReplaySummary summary) {
        SummaryTable table = new SummaryTable()
                .row("model", summary.model())
                .row("transport", summary.transport())
                .row(
                        "requests",
                        SummaryTable.count(summary.requests()) + (summary.interrupted() ? " (interrupted)" : ""));
        if (summary.traceLinesSkipped() > 0) {
            table.row("trace lines skipped", summary.traceLinesSkipped());
        }
        table.row("pages moved", summary.pagesMoved())
                .row("pages reused", summary.pagesReused())
                .row("cache hits", "%.1f %%", 100 * summary.cacheHitRate())
                .row("corrupted pages", summary.corruptedPages())
                .row("bytes moved", SummaryTable.bytes(summary.bytes()))
                .row("of them pages", SummaryTable.bytes(summary.pageBytes()))
                .row("time", "%.3f s", summary.seconds())
                .row("throughput", "%.3f GB/s", summary.gigabytesPerSecond());
        Double writes = summary.writeGigabytesPerSecond();
        if (writes != null) {
            table.row("writes alone", "%.3f GB/s", writes);
        }
        table.row("transfer p50", "%.3f ms", summary.transferMillis().p50())
                .row("transfer p90", "%.3f ms", summary.transferMillis().p90())
                .row("transfer p99", "%.3f ms", summary.transferMillis().p99())
                .row("transfer max", "%.3f ms", summary.transferMillis().max())
                .row(
                        "most in flight",
                        SummaryTable.count(summary.maxInflightOps()) + " operations, "
                                + ByteSize.format(summary.maxInflightBytes()));
        if (summary.reconnects() > 0) {
            table.row("reconnects", summary.reconnects())
                    .row("requests repeated", summary.requestsRepeated())
                    .row("pages repeated", summary.pagesRepeated());
        }
        return table.toString();
    }
}
