package io.sluice.samples.command;

import io.sluice.samples.cluster.ClusterSummary;
import io.sluice.samples.cluster.ClusterSummary.ClusterSummaryTable;
import io.sluice.samples.cluster.ClusterTally;
import io.sluice.samples.cluster.ClusterTraffic;
import io.sluice.samples.cluster.MoverHttpClient;
import io.sluice.samples.cluster.MoverHttpClient.Peer;
import io.sluice.samples.kvcache.ModelPreset;
import io.sluice.samples.mover.peer.MoverRole;
import io.sluice.samples.mover.pool.PoolLayout;
import io.sluice.samples.report.ByteSize;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Three movers, blocks that move between them all the time, and one mover that is killed and started again meanwhile.
 */
record ClusterDemoRun(
        Duration duration, DemoPools pools, List<String> moverOptions, SummaryOption summary, ProgramCommand command) {
    private static final String RECEIVER = "decode/0";
    private static final String VICTIM = "prefill/0";
    private static final String OTHER = "prefill/1";

    private static final Duration START = Duration.ofSeconds(60);
    /** How long beyond its time the run waits for the restarted mover. */
    private static final Duration EXTRA = Duration.ofSeconds(60);

    private static final long TICK_MILLIS = 20;

    /** Runs to its end; the exit status. */
    int run() throws IOException {
        try (DemoCluster cluster = new DemoCluster(moverOptions, command.termination)) {
            try {
                return run(cluster);
            } catch (IOException | RuntimeException e) {
                if (!command.termination.isRequested()) {
                    cluster.tellLastWords(command.err());
                }
                throw e;
            }
        }
    }

    private int run(DemoCluster cluster) throws IOException {
        command.out().println("Starting three movers on this machine: " + RECEIVER + ", " + VICTIM + ", " + OTHER);
        command.out().flush();
        // One alone first: members that start at the same time might begin a cluster each.
        cluster.start(MoverRole.DECODE, "0", pools.decodeBytes());
        try (MoverHttpClient receiver = cluster.awaitReady(RECEIVER)) {
            startPrefill(cluster, "0");
            startPrefill(cluster, "1");
            cluster.awaitReady(VICTIM).close();
            cluster.awaitReady(OTHER).close();
            awaitPeers(receiver);
            command.out()
                    .println("They know each other. Live moves, with a button that cancels one: " + receiver.address()
                            + "/");
            command.out().println();
            ClusterTally tally = new ClusterTally();
            try (ClusterTraffic traffic = new ClusterTraffic(
                    receiver,
                    MoverCommand.POOL,
                    receiver.blocks(MoverCommand.POOL, OTHER),
                    pools.blocksOfMove(),
                    peer -> peer.name().startsWith(MoverRole.PREFILL.prefix()),
                    tally)) {
                traffic.start();
                watch(cluster, receiver, tally, new DemoProgress(command.out(), tally, duration));
            }
            return report(tally.summary(pools.model().name(), command.termination.isRequested()));
        }
    }

    private void startPrefill(DemoCluster cluster, String name) throws IOException {
        cluster.start(MoverRole.PREFILL, name, pools.prefillBytes());
    }

    private void awaitPeers(MoverHttpClient receiver) throws IOException {
        long deadline = System.nanoTime() + START.toNanos();
        while (!receiver.peers().stream().map(Peer::name).toList().containsAll(List.of(VICTIM, OTHER))) {
            if (command.termination.isRequested()) {
                throw CommandFailure.failed("interrupted before the movers knew each other");
            }
            if (System.nanoTime() - deadline > 0) {
                throw CommandFailure.failed("the movers did not find each other within " + START.toSeconds() + " s");
            }
            pause();
        }
    }

    private void watch(DemoCluster cluster, MoverHttpClient receiver, ClusterTally tally, DemoProgress progress)
            throws IOException {
        Duration killAt = duration.dividedBy(3);
        Duration restartAt = duration.dividedBy(2);
        progress.tell("blocks move to " + RECEIVER + " from both prefill movers in turn");
        if (!await(cluster, "", progress, killAt, tally::servedByTwo)) {
            return;
        }
        tally.killed(VICTIM, runOf(receiver, VICTIM));
        cluster.kill(VICTIM);
        progress.tell("killed " + VICTIM + " (SIGKILL)");
        if (!await(cluster, VICTIM, progress, restartAt, tally::servedMeanwhile)) {
            return;
        }
        tally.restarted();
        startPrefill(cluster, "0");
        progress.tell("started " + VICTIM + " again");
        if (await(cluster, "", progress, Duration.ZERO, tally::servedAfterRestart)) {
            progress.tell("blocks come from " + VICTIM + " again");
            await(cluster, "", progress, duration, () -> true);
        }
    }

    /**
     * Waits until a time has come and something is so, a bounded time.
     *
     * @param killed the mover that does not run now; empty for none
     * @return whether to go on: not when the program is to end, or the time is over
     */
    private boolean await(
            DemoCluster cluster, String killed, DemoProgress progress, Duration time, BooleanSupplier condition) {
        Duration latest = time.compareTo(progress.elapsed()) > 0 ? time : progress.elapsed();
        while (progress.elapsed().compareTo(latest.plus(EXTRA)) < 0) {
            if (command.termination.isRequested()) {
                return false;
            }
            if (progress.elapsed().compareTo(time) >= 0 && condition.getAsBoolean()) {
                return true;
            }
            cluster.requireAlive(killed);
            progress.update();
            pause();
        }
        return false;
    }

    private static String runOf(MoverHttpClient receiver, String name) throws IOException {
        return receiver.peers().stream()
                .filter(peer -> peer.name().equals(name))
                .map(Peer::run)
                .findFirst()
                .orElse("");
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(TICK_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw CommandFailure.failed("interrupted");
        }
    }

    private int report(ClusterSummary found) throws IOException {
        command.out().println();
        if (found.interrupted()) {
            command.out().println("Interrupted: these are the figures until then.");
        }
        command.out().print(ClusterSummaryTable.render(found));
        command.out().flush();
        summary.write(found.toJson());
        List<String> complaints = found.complaints();
        complaints.forEach(complaint -> command.err().println("sluice: " + complaint));
        command.err().flush();
        return complaints.isEmpty() ? ExitCodes.OK : ExitCodes.FAILED;
    }

    /** Tells how a demonstration goes: what happens, when it does, and how much was moved, from time to time. */
    static final class DemoProgress {
        private static final double NANOS = Duration.ofSeconds(1).toNanos();
        private static final long LINES = 30;

        private final PrintWriter out;
        private final ClusterTally tally;
        private final long intervalNanos;
        private final long startNanos = System.nanoTime();
        private long lastNanos = startNanos;
        private long lastBytes;

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

    /**
     * The pools of a demonstration.
     *
     * @param decodeBlocks how many the decode mover has room for: fewer, so that each has gone by the time it is wanted again
     */
    record DemoPools(ModelPreset model, int prefillBlocks, int decodeBlocks, int blocksOfMove) {
        private static final long WANTED_BYTES = 192L << 20;
        private static final int FEWEST = 16;
        private static final int MOST = 256;
        private static final int MOVES_IN_POOL = 4;

        /** As many blocks as go into some 200 MiB, but enough for a few moves. */
        static DemoPools of(ModelPreset model) {
            int blocks = Math.clamp(WANTED_BYTES / PoolLayout.of(model, 1).blockBytes(), FEWEST, MOST);
            int room = blocks / 2;
            return new DemoPools(model, blocks, room, room / MOVES_IN_POOL);
        }

        /** Bytes of the pool of each prefill mover. */
        long prefillBytes() {
            return bytes(prefillBlocks);
        }

        /** Bytes of the pool of the decode mover. */
        long decodeBytes() {
            return bytes(decodeBlocks);
        }

        private long bytes(int blocks) {
            return PoolLayout.of(model, 1).blockBytes() * blocks;
        }
    }
}
