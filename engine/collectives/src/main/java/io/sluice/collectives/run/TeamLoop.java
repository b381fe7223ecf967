package io.sluice.collectives.run;

import io.sluice.collectives.link.LaneUser;
import io.sluice.collectives.link.Link;
import io.sluice.collectives.link.LinkFailedException;
import io.sluice.collectives.link.LinkLayout;
import io.sluice.collectives.mapped.MappedRegions;
import io.sluice.engine.EngineLoop;
import io.sluice.engine.MemoryRegion;
import io.sluice.engine.RemoteRegion;
import io.sluice.engine.SluiceException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the collectives of a team on its loop. Collective s runs on channel s mod C after those before it on that
 * channel, so messages of a channel need no number. The first failure ends all, also what comes later. {@link #submit},
 * {@link #failure}, {@link #failed} and {@link #close} may be called from any thread; the rest is the loop's.
 */
public final class TeamLoop implements EngineLoop.Source, LaneUser, Failures.Team, Exchange.Ends {
    /** How many collectives may have been called and not ended. */
    public static final int MOST_PENDING = 4096;

    private static final Logger LOG = LoggerFactory.getLogger(TeamLoop.class);
    private static final int KIB = 1 << 10;
    // the longest step, and some small ones
    private static final int BUDGET_KIB = 512;
    // in one poll, which other connections of the loop wait for
    private static final int MOST_LOOKS = 16;

    private final String name;
    private final EngineLoop loop;
    private final TeamErrors errors;
    private final Failures failures;
    private final Links links;
    private final Lookout lookout;
    private final MappedRegions regions;
    private final Channel[] channels;
    private final @Nullable RemoteRegion[] remotes;
    private final PeerWords words;
    private final LinkLayout layout;
    private final int rank;
    private final Submissions incoming;
    private final CompletableFuture<Void> closed = new CompletableFuture<>();
    private volatile boolean stopped;
    private EngineLoop.@Nullable SourceHandle handle;
    private int firstChannel;
    private boolean exchangesReady;
    private boolean found;
    private final PendingList all = new PendingList();
    private final CallsOfRanks calls = new CallsOfRanks();
    // sends and receives that wait for their events
    private final List<PointToPoint> gated = new ArrayList<>();
    private boolean left;

    /**
     * Creates it; {@link #start} begins.
     *
     * @param name for logs
     * @param remotes the regions of the other ranks; null for this one
     * @param own this rank's region
     * @param staging local memory, as {@link Link#stagingBytes} says
     */
    public TeamLoop(
            String name,
            EngineLoop loop,
            LinkLayout layout,
            int rank,
            @Nullable RemoteRegion[] remotes,
            MemoryRegion own,
            MemoryRegion staging,
            TeamErrors errors) {
        this.name = name;
        this.incoming = new Submissions(name, MOST_PENDING);
        this.loop = loop;
        this.errors = errors;
        this.remotes = remotes;
        this.layout = layout;
        this.rank = rank;
        this.words = new PeerWords(layout, rank, own, remotes);
        this.failures = new Failures(layout, rank, own, remotes, errors, words, this);
        this.links = new Links(layout, rank, remotes, own, staging, this, this);
        this.channels = links.channels;
        this.lookout = new Lookout(layout, own, links);
        this.regions = new MappedRegions(layout, rank, own, remotes, links.isAllMapped(), this::peersChanged);
    }

    /** Lets threads tell this loop what they have reduced. Before {@link #start}. */
    public void helpedBy(HelperThreads helpers) {
        helpers.onReduced(this::signal);
    }

    /** Begins to run and to watch the peers. Once, on any thread. */
    public void start() {
        EngineLoop.SourceHandle added = loop.addSource(this, BUDGET_KIB);
        handle = added;
        onLoop(() -> {
            words.listen(loop, failures);
            words.tellMaps(regions.word());
            lookout.begin(loop, this::signal);
            links.begin();
        });
        for (int i = 0; i < remotes.length; i++) {
            int peer = i;
            RemoteRegion remote = remotes[peer];
            if (remote != null) {
                remote.connection().ended().whenComplete((nothing, error) -> onLoop(() -> failures.lost(peer, error)));
            }
        }
    }

    private boolean onLoop(Runnable task) {
        try {
            loop.execute(task);
            return true;
        } catch (SluiceException engineIsClosed) {
            // the source is removed as well, which ends everything
            return false;
        }
    }

    // ---- any thread ----

    /** Returns the regions that ranks read of each other, for collectives to be submitted. */
    public MappedRegions regions() {
        return regions;
    }

    /** Returns why no collective can succeed any more, or null. */
    public @Nullable SluiceException failure() {
        return failures.failure();
    }

    /** Returns a stage that completes when no collective can succeed any more. */
    public CompletionStage<Void> ended() {
        return failures.ended();
    }

    /** Returns the ranks that were lost or have left, as far as this rank knows. */
    public FailedRanks failed() {
        return failures.ranks();
    }

    /**
     * Adds a run, whose number follows that of the run before.
     *
     * @param timeoutNanos how long it may take
     */
    public void submit(Pending run, long timeoutNanos) {
        failures.check();
        incoming.add(run, timeoutNanos, loop.inLoop());
        signal();
        if (stopped) {
            endAll();
        }
    }

    /** Looks again at runs that were held back. */
    public void signal() {
        EngineLoop.SourceHandle source = handle;
        if (source != null) {
            source.signal();
        }
    }

    /** Ends all collectives here and on the other ranks. */
    public CompletableFuture<Void> revoke() {
        CompletableFuture<Void> done = new CompletableFuture<>();
        if (!onLoop(() -> {
            failures.revoke();
            done.complete(null);
        })) {
            done.complete(null);
        }
        return done;
    }

    /**
     * Revokes the team, and agrees with the survivors on the failed ranks. All of them call it.
     *
     * @return the failed ranks, the same set on all survivors
     */
    public CompletableFuture<Set<Integer>> agree() {
        CompletableFuture<Set<Integer>> agreed = new CompletableFuture<>();
        try {
            loop.execute(() -> failures.agree(name, loop, agreed));
        } catch (SluiceException engineIsClosed) {
            agreed.completeExceptionally(engineIsClosed);
        }
        return agreed;
    }

    /** Ends all collectives here, and tells the other ranks. Completes when nothing here uses their memory any more. */
    public CompletableFuture<Void> close() {
        onLoop(() -> {
            failures.close();
            links.stop();
            signal();
        });
        if (stopped) {
            closed.complete(null);
        }
        return closed;
    }

    // ---- the loop ----

    @Override
    public int poll(int budget) {
        lookout.awake();
        found = false;
        int used = 0;
        int most = budget * KIB;
        int looks = 0;
        do {
            used += work(most - used);
        } while (failures.failure() == null
                && used < most
                && ++looks < MOST_LOOKS
                && (!incoming.isEmpty() || lookout.comes()));
        long now = System.nanoTime();
        if (all.isTime(now)) {
            expire(now);
        }
        if (failures.failure() != null) {
            endFailed();
        } else if (used >= most || lookout.looksOn(now, found)) {
            return budget;
        }
        return Math.min(budget - 1, used / KIB);
    }

    private int work(int budget) {
        for (Pending run = incoming.poll(); run != null; run = incoming.poll()) {
            accept(run);
        }
        if (!gated.isEmpty()) {
            beginOpened();
        }
        int used = 0;
        firstChannel = (firstChannel + 1) % channels.length;
        for (int i = 0; i < channels.length && used < budget && failures.failure() == null; i++) {
            used += advance(channels[(firstChannel + i) % channels.length], budget - used);
        }
        if ((exchangesReady || links.isExchangeReady()) && failures.failure() == null) {
            used += advanceExchanges(Math.max(1, budget - used));
        }
        found |= used > 0;
        return used;
    }

    private void accept(Pending added) {
        found = true;
        all.add(added);
        if (added instanceof Run run) {
            int channel = calls.channelOf(run, channels.length);
            disagree(calls.called(run, channel));
            run.begins(channels[channel].current() == null);
            channels[channel].add(run);
        } else if (added instanceof PointToPoint point) {
            begin(point);
        }
        if (all.isEarliest(added.deadline)) {
            lookAt(all.nextDeadline());
        }
    }

    private void begin(PointToPoint point) {
        SluiceException refusal = point.refusal();
        if (point.isGated()) {
            gated.add(point);
        } else if (refusal != null) {
            failures.failHere(refusal);
        } else if (failures.failure() == null) {
            links.exchange(point.peer).add(point);
            exchangesReady = true;
        }
    }

    /** Begins sends and receives whose events have happened. */
    private void beginOpened() {
        for (int i = 0; i < gated.size(); ) {
            PointToPoint point = gated.get(i);
            if (point.isGated()) {
                i++;
            } else {
                gated.remove(i);
                begin(point);
            }
        }
    }

    private int advanceExchanges(int budget) {
        exchangesReady = false;
        int used = 0;
        for (Exchange exchange : links.exchanges) {
            if (exchange != null && failures.failure() == null) {
                int share = Math.max(1, budget - used);
                int each = 0;
                try {
                    each = exchange.advance(share);
                    if (each < share && hasLeft(exchange.peer()) && exchange.needsPeer()) {
                        // all that it sent before is taken
                        failures.ranksFailed(null);
                    }
                } catch (LinkFailedException e) {
                    failures.sendFailed(e.peer(), e.error());
                } catch (RuntimeException e) {
                    failures.failHere(new SluiceException("a message of " + name + " failed", e));
                }
                used += each;
            }
        }
        exchangesReady |= used >= budget;
        return used;
    }

    private boolean hasLeft(int peer) {
        return !failures.ranks().isEmpty() && failures.ranks().contains(peer);
    }

    @Override
    public void ended(PointToPoint ended) {
        all.remove(ended);
        end(ended, null);
    }

    @Override
    public void mismatch(PointToPoint receive, int type, long bytes) {
        failures.mismatch(errors.mismatch(receive.peer, receive.tag, receive.type, receive.bytes, type, bytes));
    }

    @Override
    public void awaitedBy(CallsOfRanks.Awaited awaited) {
        disagree(calls.difference(awaited));
    }

    /** Ends all collectives if ranks have called different ones; returns whether they have. */
    private boolean disagree(@Nullable HeaderMismatch e) {
        if (e != null) {
            failures.mismatch(errors.mismatch(e.peer, e.ownHeader, e.ownCount, e.peerHeader, e.peerCount));
        }
        return e != null;
    }

    private int advance(Channel channel, int budget) {
        int used = 0;
        while (used < budget && failures.failure() == null && channel.takeReady()) {
            Run run = channel.current();
            if (run == null) {
                return used;
            }
            if (run.isGated()) {
                // opening it signals the source, but not the channel
                channel.ready();
                return used;
            }
            SluiceException refusal = run.refusal();
            if (refusal != null) {
                failures.failHere(refusal);
                return used;
            }
            int processed = step(channel, run, budget - used);
            if (processed == Run.DONE) {
                found = true;
                if (run.onlySends() && disagree(calls.unexpected(channel, run.number()))) {
                    return used;
                }
                channel.next();
                all.remove(run);
                end(run, null);
            } else {
                used += processed;
                if (used >= budget) {
                    channel.ready();
                }
            }
        }
        return used;
    }

    private int step(Channel channel, Run run, int budget) {
        try {
            run.resumes();
            int processed = run.advance(channel.links, budget);
            run.pauses(processed != 0);
            if (processed != Run.DONE && !failures.ranks().isEmpty()) {
                for (int other : failures.ranks()) {
                    if (channel.needs(other)) {
                        failures.ranksFailed(null);
                        return 0;
                    }
                }
            }
            return processed;
        } catch (HeaderMismatch e) {
            disagree(e);
        } catch (LinkFailedException e) {
            failures.sendFailed(e.peer(), e.error());
        } catch (RuntimeException e) {
            failures.failHere(new SluiceException(run.text() + " of " + name + " failed", e));
        }
        return 0;
    }

    private void end(Pending run, @Nullable SluiceException error) {
        incoming.ended();
        try {
            run.end(error);
        } catch (RuntimeException e) {
            LOG.error("the callback of {} of {} threw an exception", run.text(), name, e);
        }
    }

    @Override
    public void laneReady(Link lane) {
        if (links.isOfCollectives(lane)) {
            channels[lane.channel()].ready();
        } else {
            exchangesReady = true;
        }
        signal();
    }

    @Override
    public void sendEnded(Link lane, int slot, @Nullable SluiceException error) {
        if (links.isOfCollectives(lane)) {
            Run run = channels[lane.channel()].current();
            if (run != null && !lane.isCopied(slot)) {
                run.sendEnded(error);
            }
        } else {
            links.exchange(lane.peer()).sendEnded(slot, error);
        }
        if (error != null && lane.isCopied(slot)) {
            failures.transferFailed(lane.peer(), error);
        } else if (error != null) {
            failures.sendFailed(lane.peer(), error);
        }
        laneReady(lane);
    }

    @Override
    public void laneFailed(Link lane, SluiceException error) {
        failures.transferFailed(lane.peer(), error);
    }

    @Override
    public void peerFailed(int peer, SluiceException error) {
        failures.transferFailed(peer, error);
    }

    @Override
    public void peersChanged() {
        links.ready();
        exchangesReady = true;
        signal();
    }

    @Override
    public void peersTold() {
        links.stop();
        signal();
    }

    /** Before peers that still read memory of this rank can take it for what it was. */
    @Override
    public void breakOff() {
        if (all.oldest() != null) {
            links.breakOff(layout.brokenOffAt(rank));
        }
    }

    private void lookAt(long deadline) {
        EngineLoop.SourceHandle source = handle;
        if (source != null) {
            source.signalAt(deadline);
        }
    }

    private void expire(long now) {
        Pending late = all.expired(now);
        if (late != null) {
            // the rank for which it waits, or that before it on its channel
            int awaited = late.awaited() >= 0 ? late.awaited() : links.awaited();
            failures.timedOut(late.text(), awaited);
            return;
        }
        if (failures.failure() == null) {
            disagree(calls.unexpected(channels));
        }
        if (all.isTimed()) {
            lookAt(all.nextDeadline());
            if (CallsOfRanks.tell(channels, links)) {
                exchangesReady = true;
                signal();
            }
        }
    }

    /** Ends what does not touch memory any more. */
    private void endFailed() {
        for (Pending run = all.oldest(); run != null; ) {
            Pending following = run.newer;
            if (!run.isUnderWay()) {
                endWhenQuiescent(run);
            }
            run = following;
        }
        if (all.oldest() == null && failures.isClosing() && !left) {
            left = true;
            words.leave().whenComplete((nothing, error) -> onLoop(this::finish));
        }
    }

    private void endWhenQuiescent(Pending run) {
        if (run.sendError == null) {
            endFailed(run);
        } else if (!run.quiescing) {
            run.quiescing = true;
            words.quiesced()
                    .whenComplete((nothing, error) -> onLoop(() -> {
                        run.sendError = null;
                        signal();
                    }));
        }
    }

    private void endFailed(Pending run) {
        for (Channel channel : channels) {
            if (channel.current() == run) {
                // so that no late completion of its messages is taken for one of the next
                channel.clear();
            }
        }
        all.remove(run);
        end(run, failures.failure());
    }

    private void finish() {
        words.stop();
        lookout.stop();
        EngineLoop.SourceHandle source = handle;
        if (source != null) {
            source.close();
        }
    }

    @Override
    public void removed(@Nullable Throwable cause) {
        failures.removed(cause);
        breakOff();
        links.stop();
        words.stop();
        lookout.stop();
        stopped = true;
        endAll();
        closed.complete(null);
    }

    /** Nothing runs any more: the source was removed after all connections of its engine have ended. */
    private synchronized void endAll() {
        for (Pending run = all.oldest(); run != null; run = all.oldest()) {
            run.abandon();
            all.remove(run);
            end(run, failures.failure());
        }
        for (Pending run = incoming.poll(); run != null; run = incoming.poll()) {
            end(run, failures.failure());
        }
    }

    @Override
    public String toString() {
        return name;
    }
}
