package io.sluice.samples.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts what moves come to, before a peer is killed, while it is gone, and after it was restarted. Any thread may use it.
 *
 * <p>A run of a peer is told apart from the next by its epoch, so that the end of a move that had begun before the kill is not
 * taken for traffic from the restarted peer.
 */
public final class ClusterTally {
    private static final double NANOS = Duration.ofSeconds(1).toNanos();

    private final LongSupplier nanoTime;
    private final long startNanos;
    private final Map<String, ClusterSummary.PeerTraffic> peers = new TreeMap<>();
    private final Map<String, Long> failures = new TreeMap<>();
    private final SortedSet<String> transports = new TreeSet<>();
    private long retries;
    private long unfinished;
    private long corruptedPages;
    private long lastEndNanos;
    private long longestPauseNanos;
    private @Nullable String killedPeer;
    private @Nullable String killedRun;
    private long killNanos;
    private boolean restarted;
    private long restartNanos;
    private long otherMoves;
    private long restartedMoves;
    private long firstRestartedNanos;

    public ClusterTally() {
        this(System::nanoTime);
    }

    ClusterTally(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.startNanos = nanoTime.getAsLong();
        this.lastEndNanos = startNanos;
    }

    /**
     * Notes a move that has ended well. One of no blocks counts for nothing: all were there already, and the peer may not
     * have been asked.
     *
     * @param run tells this run of the peer from others
     * @param transport of the connection to it; {@code null} if it is not known
     */
    public synchronized void moved(String peer, String run, @Nullable String transport, long blocks, long bytes) {
        if (blocks == 0) {
            return;
        }
        long now = nanoTime.getAsLong();
        longestPauseNanos = Math.max(longestPauseNanos, now - lastEndNanos);
        lastEndNanos = now;
        peers.compute(
                peer,
                (name, traffic) -> (traffic == null ? new ClusterSummary.PeerTraffic(name, 0, 0, 0) : traffic)
                        .plus(blocks, bytes));
        if (transport != null) {
            transports.add(transport);
        }
        if (killedPeer == null) {
            return;
        }
        if (!peer.equals(killedPeer)) {
            otherMoves += restarted ? 0 : 1;
        } else if (restarted && !run.equals(killedRun) && restartedMoves++ == 0) {
            firstRestartedNanos = now;
        }
    }

    /**
     * Notes a move that has failed.
     *
     * @param corrupted pages that did not arrive as they were sent
     */
    public synchronized void failed(String kind, long corrupted) {
        failures.merge(kind, 1L, Long::sum);
        corruptedPages += corrupted;
    }

    public synchronized void retried() {
        retries++;
    }

    /** Notes blocks that are given up, as they have not arrived. */
    public synchronized void gaveUp(long blocks) {
        unfinished += blocks;
    }

    public synchronized void killed(String peer, String run) {
        killedPeer = peer;
        killedRun = run;
        killNanos = nanoTime.getAsLong();
    }

    public synchronized void restarted() {
        restarted = true;
        restartNanos = nanoTime.getAsLong();
    }

    public synchronized boolean servedAfterRestart() {
        return restartedMoves > 0;
    }

    public synchronized boolean servedMeanwhile() {
        return otherMoves > 0;
    }

    public synchronized boolean servedByTwo() {
        return peers.size() > 1;
    }

    public synchronized long moves() {
        return peers.values().stream()
                .mapToLong(ClusterSummary.PeerTraffic::moves)
                .sum();
    }

    public synchronized long bytes() {
        return peers.values().stream()
                .mapToLong(ClusterSummary.PeerTraffic::bytes)
                .sum();
    }

    public synchronized ClusterSummary summary(String model, boolean interrupted) {
        boolean served = restartedMoves > 0;
        return new ClusterSummary(
                model,
                List.copyOf(transports),
                interrupted,
                (nanoTime.getAsLong() - startNanos) / NANOS,
                corruptedPages,
                new ArrayList<>(peers.values()),
                new TreeMap<>(failures),
                retries,
                unfinished,
                longestPauseNanos / NANOS,
                killedPeer,
                otherMoves,
                served ? (firstRestartedNanos - killNanos) / NANOS : null,
                served ? (firstRestartedNanos - restartNanos) / NANOS : null,
                restartedMoves);
    }
}
