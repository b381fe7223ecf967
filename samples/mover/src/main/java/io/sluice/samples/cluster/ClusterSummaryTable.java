package io.sluice.samples.cluster;

import io.sluice.samples.report.ByteSize;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The summary of a run of three movers as a table for people. */
public final class ClusterSummaryTable {

    private final StringBuilder text = new StringBuilder();

    private ClusterSummaryTable() {}

    /** The table, several lines each ending in a line feed. */
    public static String render(ClusterSummary summary) {
        ClusterSummaryTable table = new ClusterSummaryTable();
        table.row("model", summary.model());
        table.row("transport", summary.transports().isEmpty() ? "none" : String.join(", ", summary.transports()));
        table.row("moves", count(summary.moves()) + (summary.interrupted() ? " (interrupted)" : ""));
        for (ClusterSummary.PeerTraffic peer : summary.peers()) {
            table.row(
                    "  from " + peer.peer(),
                    count(peer.moves()) + ", blocks: " + count(peer.blocks()) + ", bytes: " + bytes(peer.bytes()));
        }
        table.row("blocks", count(summary.blocks()));
        table.row("bytes", bytes(summary.bytes()));
        table.row("time", seconds(summary.seconds()));
        table.row("throughput", String.format(Locale.ROOT, "%.3f GB/s", summary.gigabytesPerSecond()));
        table.row("corrupted pages", count(summary.corruptedPages()));
        table.row("moves failed", failures(summary.failures()));
        table.row("asked for again", count(summary.retries()));
        table.row("blocks missing", count(summary.unfinished()));
        table.row("longest pause", seconds(summary.longestPauseSeconds()));
        table.killed(summary);
        return table.text.toString();
    }

    private void killed(ClusterSummary summary) {
        String peer = summary.killedPeer();
        if (peer == null) {
            row("killed", "none");
            return;
        }
        row("killed", peer);
        row("  moves meanwhile", count(summary.otherMoves()));
        row("  time without it", seconds(summary.secondsWithoutKilledPeer()));
        row("  after its restart", seconds(summary.secondsFromRestart()));
        row("  moves from it then", count(summary.restartedMoves()));
    }

    private void row(String label, String value) {
        text.append(String.format(Locale.ROOT, "%-20s %s\n", label, value));
    }

    private static String failures(Map<String, Long> failures) {
        if (failures.isEmpty()) {
            return "0";
        }
        StringBuilder all = new StringBuilder();
        failures.forEach((kind, number) -> all.append(all.isEmpty() ? "" : ", ")
                .append(count(number))
                .append(' ')
                .append(kind));
        return all.toString();
    }

    private static String count(long value) {
        return String.format(Locale.ROOT, "%,d", value);
    }

    private static String bytes(long value) {
        return count(value) + " (" + ByteSize.format(value) + ")";
    }

    private static String seconds(@Nullable Double value) {
        return value == null ? "it did not come back" : String.format(Locale.ROOT, "%.3f s", value);
    }
}
