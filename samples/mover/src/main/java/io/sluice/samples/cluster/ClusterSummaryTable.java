package io.sluice.samples.cluster;

import io.sluice.samples.report.SummaryTable;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The summary of a run of three movers as a table for people. */
public final class ClusterSummaryTable {

    private ClusterSummaryTable() {}

    /** The table, several lines each ending in a line feed. */
    public static String render(ClusterSummary summary) {
        SummaryTable table = new SummaryTable()
                .row("model", summary.model())
                .row("transport", summary.transports().isEmpty() ? "none" : String.join(", ", summary.transports()))
                .row("moves", SummaryTable.count(summary.moves()) + (summary.interrupted() ? " (interrupted)" : ""));
        for (ClusterSummary.PeerTraffic peer : summary.peers()) {
            table.row(
                    "  from " + peer.peer(),
                    SummaryTable.count(peer.moves()) + ", blocks: " + SummaryTable.count(peer.blocks()) + ", bytes: "
                            + SummaryTable.bytes(peer.bytes()));
        }
        table.row("blocks", summary.blocks())
                .row("bytes", SummaryTable.bytes(summary.bytes()))
                .row("time", seconds(summary.seconds()))
                .row("throughput", "%.3f GB/s", summary.gigabytesPerSecond())
                .row("corrupted pages", summary.corruptedPages())
                .row("moves failed", failures(summary.failures()))
                .row("asked for again", summary.retries())
                .row("blocks missing", summary.unfinished())
                .row("longest pause", seconds(summary.longestPauseSeconds()));
        String killed = summary.killedPeer();
        if (killed == null) {
            return table.row("killed", "none").toString();
        }
        return table.row("killed", killed)
                .row("  moves meanwhile", summary.otherMoves())
                .row("  time without it", seconds(summary.secondsWithoutKilledPeer()))
                .row("  after its restart", seconds(summary.secondsFromRestart()))
                .row("  moves from it then", summary.restartedMoves())
                .toString();
    }

    private static String failures(Map<String, Long> failures) {
        return failures.isEmpty()
                ? "0"
                : failures.entrySet().stream()
                        .map(failure -> SummaryTable.count(failure.getValue()) + " " + failure.getKey())
                        .collect(Collectors.joining(", "));
    }

    private static String seconds(@Nullable Double value) {
        return value == null ? "it did not come back" : String.format(Locale.ROOT, "%.3f s", value);
    }
}
