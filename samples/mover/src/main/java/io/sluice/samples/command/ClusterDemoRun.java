package io.sluice.samples.command;

import io.sluice.samples.cluster.ClusterSummary;
import io.sluice.samples.cluster.ClusterSummaryTable;
import io.sluice.samples.cluster.ClusterTally;
import io.sluice.samples.cluster.ClusterTraffic;
import io.sluice.samples.cluster.DemoPools;
import io.sluice.samples.cluster.MoverHttpClient;
import io.sluice.samples.cluster.MoverHttpClient.Peer;
import io.sluice.samples.mover.peer.MoverRole;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Three movers, blocks that move between them all the time, and one mover that is killed and started again meanwhile.
 *
 * @param duration how long blocks are moved
 * @param pools of the movers
 * @param moverOptions of the mover command, for all
 * @param summary where the summary goes as JSON
 * @param command that runs it
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
}
