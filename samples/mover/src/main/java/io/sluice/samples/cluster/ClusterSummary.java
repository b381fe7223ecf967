package io.sluice.samples.cluster;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import io.sluice.samples.report.JsonText;
import io.sluice.samples.report.SummaryTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of a run of three movers, one of which was killed and restarted. As JSON its fields are in snake case.
 *
 * @param seconds wall-clock time of the traffic, all three phases of it
 * @param corruptedPages pages that did not arrive as they were sent
 * @param failures how many moves failed, by the kind of problem
 * @param retries how many moves were asked for again after a failure
 * @param unfinished blocks that were asked for and have not arrived at the end
 * @param longestPauseSeconds the longest time in which no move ended well, from the start of the traffic to the end of the last
 * @param killedPeer name of the peer that was killed; {@code null} if the run ended before
 * @param otherMoves moves that ended well, from the other peer, between the kill and the restart
 * @param secondsWithoutKilledPeer from the kill to the end of the first move from the restarted peer; {@code null} if there
 *     was none
 * @param secondsFromRestart from the start of the new process to the end of the first move from it; {@code null} if there was
 *     none
 * @param restartedMoves moves that ended well, from the restarted peer
 */
@JsonPropertyOrder({
    "model",
    "transports",
    "interrupted",
    "seconds",
    "moves",
    "blocks",
    "bytes",
    "gigabytes_per_second",
    "corrupted_pages"
})
public record ClusterSummary(
        String model,
        List<String> transports,
        boolean interrupted,
        double seconds,
        @JsonProperty("corrupted_pages") long corruptedPages,
        List<PeerTraffic> peers,
        Map<String, Long> failures,
        long retries,
        @JsonProperty("unfinished_blocks") long unfinished,
        @JsonProperty("longest_pause_seconds") double longestPauseSeconds,
        @JsonProperty("killed_peer") @Nullable String killedPeer,
        @JsonProperty("other_moves_meanwhile") long otherMoves,

        @JsonProperty("seconds_without_killed_peer") @Nullable
        Double secondsWithoutKilledPeer,

        @JsonProperty("seconds_from_restart") @Nullable Double secondsFromRestart,

        @JsonProperty("moves_from_restarted_peer") long restartedMoves) {
    /** Moves that ended well. */
    @JsonProperty("moves")
    public long moves() {
        return peers.stream().mapToLong(PeerTraffic::moves).sum();
    }

    /** Blocks that arrived. */
    @JsonProperty("blocks")
    public long blocks() {
        return peers.stream().mapToLong(PeerTraffic::blocks).sum();
    }

    /** Bytes of the blocks that arrived. */
    @JsonProperty("bytes")
    public long bytes() {
        return peers.stream().mapToLong(PeerTraffic::bytes).sum();
    }

    /** Bytes in each second, in units of 10<sup>9</sup> bytes; 0 if no time passed. */
    @JsonProperty("gigabytes_per_second")
    public double gigabytesPerSecond() {
        return seconds > 0 ? bytes() / seconds / 1e9 : 0;
    }

    /**
     * Returns the faults of the outcome, for people; none if every page arrived as it was sent, and traffic went on without the
     * peer that was killed, and came from it again after the restart. Of a run that was broken off only pages are told.
     */
    public List<String> complaints() {
        List<String> complaints = new ArrayList<>();
        if (corruptedPages > 0) {
            complaints.add("corrupted pages: " + corruptedPages + "; they differ from those sent");
        }
        if (interrupted) {
            return complaints;
        }
        if (unfinished > 0) {
            complaints.add("blocks that were asked for and never arrived: " + unfinished);
        }
        if (killedPeer == null) {
            complaints.add("no peer was killed");
            return complaints;
        }
        if (otherMoves == 0) {
            complaints.add("nothing came from the other peer while " + killedPeer + " was gone");
        }
        if (restartedMoves == 0) {
            complaints.add("nothing came from " + killedPeer + " after it was restarted");
        }
        return complaints;
    }

    public String toJson() {
        return JsonText.of(this);
    }

    /**
     * The moves from one peer. As JSON its fields are in snake case.
     *
     * @param moves that have ended well
     */
    public record PeerTraffic(String peer, long moves, long blocks, long bytes) {
        PeerTraffic plus(long moreBlocks, long moreBytes) {
            return new PeerTraffic(peer, moves + 1, blocks + moreBlocks, bytes + moreBytes);
        }
    }

    /** The summary of a run of three movers as a table for people. */
    public static final class ClusterSummaryTable {
        private ClusterSummaryTable() {}

        public static String render(ClusterSummary summary) {
            SummaryTable table = new SummaryTable()
                    .row("model", summary.model())
                    .row("transport", summary.transports().isEmpty() ? "none" : String.join(", ", summary.transports()))
                    .row(
                            "moves",
                            SummaryTable.count(summary.moves()) + (summary.interrupted() ? " (interrupted)" : ""));
            for (ClusterSummary.PeerTraffic peer : summary.peers()) {
                table.row(
                        "  from " + peer.peer(),
                        SummaryTable.count(peer.moves()) + ", blocks: " + SummaryTable.count(peer.blocks())
                                + ", bytes: " + SummaryTable.bytes(peer.bytes()));
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
}
