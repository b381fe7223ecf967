package io.sluice.samples.cluster;

import io.sluice.samples.cluster.MoverHttpClient.Peer;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Has blocks moved to a mover by their hashes, all the time, from its peers in turn. A move that fails is asked for again, if
 * possible from another peer; a peer that the directory does not name is not asked.
 */
public final class ClusterTraffic implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ClusterTraffic.class);
    /** The mover that was asked, and not a peer of it, does not answer, so it reports no kind of problem. */
    private static final String UNREACHABLE = "mover-unreachable";

    private static final int AT_ONCE = 2;
    private static final long POLL_MILLIS = 5;
    private static final long PAUSE_MILLIS = 100;
    private static final Duration END = Duration.ofSeconds(10);

    private final MoverHttpClient mover;
    private final String pool;
    private final List<String> blocks;
    private final int blocksOfMove;
    private final Predicate<Peer> serves;
    private final ClusterTally tally;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final AtomicLong nextBlock = new AtomicLong();
    private final AtomicLong nextPeer = new AtomicLong();
    private volatile boolean stopped;
    /** Whether the mover that is asked has not answered the last time. */
    private volatile boolean unreachable;

    /**
     * Traffic that has not begun.
     *
     * @param blocks hashes of the blocks that the peers have, again and again in this order. The mover's pool has room for fewer,
     *     and lets go of what it has not used for the longest time: so none is there already when its turn comes
     * @param serves which peers have them
     */
    public ClusterTraffic(
            MoverHttpClient mover,
            String pool,
            List<String> blocks,
            int blocksOfMove,
            Predicate<Peer> serves,
            ClusterTally tally) {
        this.mover = mover;
        this.pool = pool;
        this.blocks = List.copyOf(blocks);
        this.blocksOfMove = blocksOfMove;
        this.serves = serves;
        this.tally = tally;
    }

    public void start() {
        for (int i = 0; i < AT_ONCE; i++) {
            threads.execute(this::moveOn);
        }
    }

    /**
     * Takes no new blocks, and waits for those that were asked for, a bounded time; what has not come by then is counted as
     * unfinished.
     */
    @Override
    public void close() {
        stopped = true;
        threads.shutdown();
        try {
            if (!threads.awaitTermination(END.toSeconds(), TimeUnit.SECONDS)) {
                threads.shutdownNow();
                LOG.warn("not all moves have ended within {} s", END.toSeconds());
                threads.awaitTermination(END.toSeconds(), TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            threads.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }

    private void moveOn() {
        try {
            while (!stopped) {
                move(take());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private List<String> take() {
        long from = nextBlock.getAndAdd(blocksOfMove);
        List<String> taken = new ArrayList<>(blocksOfMove);
        for (int i = 0; i < blocksOfMove; i++) {
            taken.add(blocks.get((int) ((from + i) % blocks.size())));
        }
        return taken;
    }

    private void move(List<String> wanted) throws InterruptedException {
        String failed = "";
        boolean again = false;
        try {
            while (true) {
                Peer peer = choose(failed);
                if (peer != null) {
                    if (again) {
                        tally.retried();
                    }
                    if (hasMoved(peer, wanted)) {
                        return;
                    }
                    failed = peer.name();
                    again = true;
                }
                if (stopped && unreachable) {
                    tally.gaveUp(wanted.size());
                    return;
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            }
        } catch (InterruptedException e) {
            tally.gaveUp(wanted.size());
            throw e;
        }
    }

    /** Each in its turn, but another one than that which has just failed, if there is any. */
    private @Nullable Peer choose(String failed) {
        List<Peer> peers;
        try {
            peers = mover.peers().stream().filter(serves).toList();
            unreachable = false;
        } catch (IOException e) {
            LOG.debug("the peers are not known", e);
            failedUnlessInterrupted();
            return null;
        }
        if (peers.isEmpty()) {
            return null;
        }
        int turn = (int) (nextPeer.getAndIncrement() % peers.size());
        Peer chosen = peers.get(turn);
        return chosen.name().equals(failed) ? peers.get((turn + 1) % peers.size()) : chosen;
    }

    private boolean hasMoved(Peer peer, List<String> wanted) throws InterruptedException {
        try {
            MoverHttpClient.MoveReport report = awaitEnd(mover.moveFrom(peer.name(), pool, wanted));
            if (report.isDone()) {
                tally.moved(peer.name(), peer.run(), transportTo(peer), report.blocksDone(), report.bytesDone());
                return true;
            }
            String kind = report.problemKind();
            tally.failed(kind == null ? report.state() : kind, report.pagesCorrupted());
        } catch (MoverHttpClient.MoverProblemException e) {
            LOG.debug("a move from {} was refused", peer, e);
            tally.failed(e.kind(), 0);
        } catch (IOException e) {
            LOG.debug("a move from {} has an unknown end", peer, e);
            failedUnlessInterrupted();
        }
        return false;
    }

    /** A peer's first move is what connects to it, so what was known of it before may lack the transport. */
    private @Nullable String transportTo(Peer peer) {
        if (peer.transport() != null) {
            return peer.transport();
        }
        try {
            for (Peer now : mover.peers()) {
                if (now.name().equals(peer.name()) && now.run().equals(peer.run())) {
                    return now.transport();
                }
            }
        } catch (IOException e) {
            LOG.debug("the transport to {} is not known", peer, e);
        }
        return null;
    }

    private void failedUnlessInterrupted() {
        unreachable = true;
        if (!Thread.currentThread().isInterrupted()) {
            tally.failed(UNREACHABLE, 0);
        }
    }

    private MoverHttpClient.MoveReport awaitEnd(String id) throws IOException, InterruptedException {
        MoverHttpClient.MoveReport report = mover.move(id);
        while (!report.hasEnded()) {
            TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
            report = mover.move(id);
        }
        return report;
    }
}
