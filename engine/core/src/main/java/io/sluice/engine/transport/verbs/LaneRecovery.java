package io.sluice.engine.transport.verbs;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.engine.transport.verbs.LaneState.Phase;
import io.sluice.engine.transport.verbs.VerbsControlMessage.Fence;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Recovers a lane whose queue pair broke: both sides destroy theirs, report over the control channel which messages have arrived,
 * and connect new ones; or the lane goes down and others take over. Confined to the loop.
 */
final class LaneRecovery {
    private static final Logger LOG = LoggerFactory.getLogger(LaneRecovery.class);
    private static final long FLUSH_NANOS = 200_000_000;
    private static final long FLUSH_CHECK_NANOS = 1_000_000;
    private static final long CONNECT_AGAIN_NANOS = 50_000_000;

    private final LaneState state;
    private final LaneContext context;
    private final SiblingLanes siblings;
    private final LoopLanes shared;
    private final LaneQueuePair queuePair;
    private final SendRing places;
    private final LaneMessages messages;
    private final LaneWork work;
    private final LaneFault fault;
    private final LaneWatchdog watchdog;
    private final LaneSendQueue.Probe probe = this::probed;
    private final Deadline flushCheck = new Deadline() {
        @Override
        protected void expired() {
            fenceWhenFlushed();
        }
    };
    private final Deadline connectAgain = new Deadline() {
        @Override
        protected void expired() {
            reconnectWhenPossible();
        }
    };

    private int incarnation;
    private int peerReadyFor = -1;
    private @Nullable Fence peerFence;
    private int offeredNumber;
    private @Nullable Fence awaitedPeer;
    private long brokenSince;
    private long flushedTo;
    private boolean verdictAwaited;
    private boolean wasDown;

    LaneRecovery(
            LaneState state,
            LaneContext context,
            SiblingLanes siblings,
            LoopLanes shared,
            LaneQueuePair queuePair,
            LaneMessages messages,
            LaneWork work,
            LaneFault fault,
            LaneWatchdog watchdog) {
        this.state = state;
        this.context = context;
        this.siblings = siblings;
        this.shared = shared;
        this.queuePair = queuePair;
        this.places = queuePair.queue().places();
        this.messages = messages;
        this.work = work;
        this.fault = fault;
        this.watchdog = watchdog;
    }

    // ---- the end of an incarnation ----

    /** The rail or the queue pair reports an event. */
    void railEvent(RailEvent event) {
        switch (event) {
            case QUEUE_PAIR_FAILED -> breakDown("the adapter reports an error of the queue pair");
            case REMOVED -> {
                fault.blamePath();
                breakDown(queuePair.rail() + " has failed or was removed");
            }
            case DOWN -> {
                if (hasOpenLaneElsewhere()) {
                    fault.blamePath();
                    breakDown("the port of " + queuePair.rail() + " is down");
                }
            }
            case QUEUE_FAILED -> context.failed("a queue of " + queuePair.rail() + " has failed");
            case ACTIVE -> {
                revive();
                reconnectWhenPossible();
            }
        }
    }

    private boolean hasOpenLaneElsewhere() {
        return siblings.hasOpenElsewhere(state.index());
    }

    /** The queue pair is unusable. Ignored if it has already broken. */
    void breakDown(String reason) {
        Phase phase = state.phase();
        if (phase == Phase.NEW) {
            context.failed("lane " + state.index() + ": " + reason);
            return;
        }
        if (phase != Phase.OPEN && phase != Phase.PROBING && phase != Phase.CONNECTED && phase != Phase.WAITING) {
            return;
        }
        awaitedPeer = null;
        EventLoop loop = shared.loop();
        loop.disarm(connectAgain);
        watchdog.workBegins();
        LOG.info("lane {} of {} on {} breaks: {}", state.index(), context, queuePair.rail(), reason);
        state.enter(Phase.BREAKING);
        brokenSince = loop.now();
        flushedTo = places.first();
        queuePair.toError();
        // later, because this may be called while completions are handled
        loop.execute(this::fenceWhenFlushed);
    }

    /** The work in a slot of the send queue was flushed. */
    void flushed(long place) {
        flushedTo = Math.max(flushedTo, place + 1);
    }

    /** Waits until the adapter has flushed its requests, but only briefly in case it does not respond. */
    private void fenceWhenFlushed() {
        if (state.phase() != Phase.BREAKING) {
            return;
        }
        queuePair.drain();
        EventLoop loop = shared.loop();
        if (state.phase() == Phase.BREAKING
                && !places.isEmpty()
                && flushedTo <= places.last()
                && loop.now() - brokenSince < FLUSH_NANOS) {
            loop.arm(flushCheck, loop.now() + FLUSH_CHECK_NANOS);
            return;
        }
        fence();
    }

    /** Fences this incarnation: nothing of it takes effect on this side any more. Notifies the peer. */
    private void fence() {
        if (state.phase() != Phase.BREAKING) {
            return;
        }
        queuePair.destroy();
        state.enter(Phase.FENCED);
        context.count(WireCounter.FENCES, 1);
        prepareNext(!(fault.isOfPath() && hasOpenLaneElsewhere()));
        resumeWhenReady();
    }

    private void prepareNext(boolean again) {
        offeredNumber = 0;
        if (again && !queuePair.rail().isRemoved()) {
            try {
                queuePair.make();
                offeredNumber = queuePair.number();
            } catch (SluiceException e) {
                LOG.warn("lane {} of {} stays down: {}", state.index(), context, e.getMessage());
            }
        }
        VerbsRemoteKey key = fault.keyInQuestion();
        long handle = -1;
        if (key != null) {
            handle = key.handle();
            verdictAwaited = true;
        }
        context.send(new Fence(
                        state.index(),
                        incarnation,
                        messages.tellReceived(),
                        offeredNumber,
                        queuePair.sequence(),
                        handle)
                .toBytes());
    }

    /** The peer has fenced the lane. */
    void peerFenced(Fence fence) {
        if (fence.incarnation() != incarnation || peerFence != null) {
            throw new ProtocolException("the peer fences lane " + state.index() + " out of turn");
        }
        messages.checkReceivedByPeer(fence.received());
        peerFence = fence;
        switch (state.phase()) {
            case OPEN, PROBING, CONNECTED, WAITING -> breakDown("the peer fences it");
            case FENCED -> resumeWhenReady();
            case DOWN -> {
                // the peer wants to revive the lane
                watchdog.progress();
                state.enter(Phase.FENCED);
                prepareNext(queuePair.rail().isUsable() && !state.hasEntrusted());
                resumeWhenReady();
            }
            default -> {}
        }
    }

    /** The peer reports whether the region to which its adapter refused access is still attached. */
    void peerRefused(boolean attached) {
        if (!verdictAwaited) {
            throw new ProtocolException("the peer was not asked about a region");
        }
        verdictAwaited = false;
        if (!attached) {
            fault.regionUnknown();
        }
        resumeWhenReady();
    }

    // ---- the next incarnation ----

    /** The peer has fenced as well and has reported the messages that it received. */
    private void resumeWhenReady() {
        Fence peer = peerFence;
        if (peer != null && state.phase() == Phase.FENCED && !verdictAwaited) {
            resume(peer);
        }
    }

    /**
     * Both sides have fenced: nothing of the old incarnation takes effect any more, and each knows which messages have arrived.
     */
    private void resume(Fence peer) {
        peerFence = null;
        incarnation++;
        List<WorkRequest> again = new ArrayList<>();
        // in this order: a completed answer is reused, so the send queue must no longer refer to it
        work.takeUnfinished(again);
        List<VerbsMessage> unsent = messages.takeUnreceived(peer.received());
        boolean down = offeredNumber == 0 || peer.number() == 0;
        Object failedRequest = fault.takeCulprit();
        if (down) {
            moveAway(unsent, failedRequest, again);
            goDown();
        } else {
            messages.putBack(unsent, failedRequest);
            work.finish(failedRequest);
        }
        context.again(again);
        if (!down) {
            reconnect(peer);
        }
        context.laneChanged();
    }

    private void reconnect(Fence peer) {
        fault.pathForgiven();
        if (!queuePair.rail().isPortActive() && !hasOpenLaneElsewhere()) {
            state.enter(Phase.WAITING);
            awaitedPeer = peer;
            shared.loop().arm(connectAgain, shared.loop().now() + CONNECT_AGAIN_NANOS);
            return;
        }
        try {
            queuePair.connect(peer.number(), peer.sequence());
        } catch (SluiceException e) {
            boolean brokeAgain = queuePair.isInError();
            if (!brokeAgain && !hasOpenLaneElsewhere()) {
                context.failed(e);
                return;
            }
            // it broke before it was connected, or the path is gone and another rail takes over
            if (!brokeAgain) {
                fault.blamePath();
            }
            state.enter(Phase.CONNECTED);
            breakDown(String.valueOf(e.getMessage()));
            return;
        }
        siblings.recountAnswers();
        state.enter(Phase.CONNECTED);
        context.send(VerbsControlMessage.ready(state.index(), incarnation));
        if (peerReadyFor == incarnation) {
            probe();
        }
    }

    private void reconnectWhenPossible() {
        Fence peer = awaitedPeer;
        if (peer != null && state.phase() == Phase.WAITING) {
            awaitedPeer = null;
            shared.loop().disarm(connectAgain);
            reconnect(peer);
        }
    }

    /** The peer's new queue pair is connected. */
    void peerReady(int forIncarnation) {
        peerReadyFor = forIncarnation;
        if (state.phase() == Phase.CONNECTED && forIncarnation == incarnation) {
            probe();
        }
    }

    private void probe() {
        state.enter(Phase.PROBING);
        queuePair.queue().readFlushWord(probe);
    }

    private void probed() {
        if (state.phase() == Phase.PROBING) {
            state.enter(Phase.OPEN);
            wasDown = false;
            LOG.info("lane {} of {} on {} works again", state.index(), context, queuePair.rail());
            state.scheduleFlush();
            context.laneChanged();
        }
    }

    // ---- out of use ----

    /** Another lane takes over the unfinished requests. */
    private void moveAway(List<VerbsMessage> unsent, @Nullable Object failedRequest, List<WorkRequest> again) {
        messages.moveAway(unsent, failedRequest, again);
        work.handOver(failedRequest);
        siblings.recountAnswers();
    }

    private void goDown() {
        queuePair.destroy();
        fault.pathForgiven();
        state.enter(Phase.DOWN);
        if (!wasDown) {
            LOG.warn("lane {} of {} on {} is out of use", state.index(), context, queuePair.rail());
        }
        wasDown = true;
        messages.reportThroughDeputy();
    }

    /** Tries to revive a lane that is down. */
    void revive() {
        // its own answers must not overtake those that others still carry for it
        if (state.phase() == Phase.DOWN
                && !state.hasEntrusted()
                && queuePair.rail().isUsable()
                && queuePair.rail().isPortActive()) {
            watchdog.progress();
            state.enter(Phase.FENCED);
            prepareNext(true);
        }
    }

    void close() {
        shared.loop().disarm(flushCheck);
        shared.loop().disarm(connectAgain);
    }
}
