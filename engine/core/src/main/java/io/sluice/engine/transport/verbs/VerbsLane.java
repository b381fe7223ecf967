package io.sluice.engine.transport.verbs;

import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.engine.transport.verbs.LaneState.Phase;
import io.sluice.engine.transport.verbs.VerbsControlMessage.Fence;
import io.sluice.engine.transport.verbs.VerbsOffer.OfferedLane;
import io.sluice.engine.transport.verbs.VerbsOffer.OfferedRail;
import io.sluice.jni.Errno;
import io.sluice.jni.VerbsCompletionQueue;
import java.lang.foreign.MemorySegment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue pair and the work in flight on it: work requests ({@link LaneWork}) and messages ({@link LaneMessages}). When
 * it breaks, an incarnation of the lane ends and the next begins ({@link LaneRecovery}). Confined to the loop.
 */
final class VerbsLane implements LaneGroup.Member {
    private static final Logger LOG = LoggerFactory.getLogger(VerbsLane.class);
    private static final int CREDITS = LaneGroup.CREDITS;
    // kept for messages, and for the reads that make writes visible
    private static final int RESERVED_PLACES = CREDITS + 16;

    private final LaneContext context;
    private final LoopLanes shared;
    private final LaneGroup group;
    private final int slot;
    private final LaneState state;
    private final LaneSendQueue queue;
    private final SendRing places;
    private final LaneQueuePair queuePair;
    private final LaneRequests requests;
    private final LaneMessages messages;
    private final LaneVisibility visibility;
    private final LaneFault fault;
    private final LaneWork work;
    private final LaneRecovery recovery;
    private final LaneWatchdog watchdog;

    VerbsLane(
            LaneContext context,
            SiblingLanes siblings,
            LoopLanes shared,
            VerbsOptions options,
            int index,
            LaneGroup group) {
        this.context = context;
        this.shared = shared;
        this.group = group;
        this.slot = group.enter(this);
        try {
            Runnable flush = this::flush;
            this.state = new LaneState(index, () -> shared.flushLater(flush));
            this.watchdog = new LaneWatchdog(shared.loop(), this::hasWork);
            this.queue = new LaneSendQueue(context, shared.batch(), group, slot, this::postRefused);
            this.places = queue.places();
            this.queuePair = new LaneQueuePair(group, slot, queue, shared.batch(), options);
            this.requests = new LaneRequests(context, shared);
            this.messages = new LaneMessages(state, context, siblings, shared, queue, requests, watchdog);
            this.visibility = new LaneVisibility(state, watchdog);
            this.fault = new LaneFault(context, index, group.rail());
            this.work = new LaneWork(context, shared, queue, messages, requests, visibility, fault);
            this.recovery =
                    new LaneRecovery(state, context, siblings, shared, queuePair, messages, work, fault, watchdog);
            queuePair.make();
        } catch (RuntimeException | Error e) {
            leave();
            throw e;
        }
    }

    private void leave() {
        group.leave(slot);
        shared.left(group);
    }

    // ---- life ----

    int index() {
        return state.index();
    }

    Rail rail() {
        return group.rail();
    }

    /** The index of the peer's port among its rails. */
    int peerRail() {
        return queue.peerRail();
    }

    OfferedLane offer() {
        return queuePair.offer();
    }

    /** Connects the queue pair for the first time. */
    void connect(OfferedLane peer, OfferedRail port, int agreedCredits) {
        messages.credits(agreedCredits);
        queuePair.connect(peer, port);
        state.enter(Phase.OPEN);
    }

    boolean isOpen() {
        return state.isOpen();
    }

    boolean isDown() {
        return state.isDown();
    }

    /** May be called by any thread. */
    PathState pathState() {
        return state.path();
    }

    // ---- work requests ----

    /** Bytes in flight plus a fixed cost for each request. */
    long load() {
        return requests.load();
    }

    boolean hasRoom() {
        return state.isOpen() && queue.free() >= RESERVED_PLACES + 2 && messages.waiting() < CREDITS;
    }

    /** Adds a request to the batch, or to the messages. */
    void post(WorkRequest request) {
        watchdog.workBegins();
        work.post(request);
    }

    /** The adapter refused a request of the batch, and with it all later ones of this lane. */
    private void postRefused(int error) {
        try {
            String text = Errno.message(error);
            work.postRefused("lane " + state.index() + ": posting fails again and again: " + text);
            recovery.breakDown("posting failed: " + text);
        } catch (RuntimeException | Error e) {
            unexpected(e);
        }
    }

    @Override
    public void completed(int place, int status, int vendorError) {
        Phase phase = state.phase();
        if (phase == Phase.DOWN || phase == Phase.CLOSED || phase == Phase.NEW) {
            return;
        }
        long at = places.find(place);
        if (at < 0) {
            return;
        }
        if (status == VerbsCompletionQueue.SUCCESS) {
            if (phase != Phase.PROBING) {
                // a small read that succeeds does not explain what broke the lane
                watchdog.progress();
            }
            work.retireTo(at + 1);
            context.roomMade();
            if (messages.waiting() > 0 || visibility.isDue()) {
                state.scheduleFlush();
            }
            return;
        }
        if (phase == Phase.BREAKING) {
            if (status != VerbsCompletionQueue.FLUSHED && fault.failedRequest() == null) {
                // the peer's fence, or an event, arrived before the cause that broke the queue pair
                work.retireTo(at);
                work.blame(status);
            }
            // flushed: the entry is handled when the lane is fenced
            recovery.flushed(at);
            return;
        }
        work.retireTo(at);
        work.blame(status);
        recovery.breakDown(VerbsCompletionQueue.statusText(status)
                + (vendorError == 0 ? "" : " (vendor error " + vendorError + ")"));
    }

    // ---- messages ----

    LaneMessages messages() {
        return messages;
    }

    /** At the end of the duty cycle: adds the waiting messages to the batch. */
    private void flush() {
        state.flushBegins();
        try {
            addWaiting();
        } catch (RuntimeException | Error e) {
            unexpected(e);
        }
    }

    private void addWaiting() {
        if (state.phase() == Phase.DOWN) {
            messages.reportThroughDeputy();
            return;
        }
        if (!state.isOpen()) {
            return;
        }
        // slots beyond those of work requests, one of them kept for reports
        while (visibility.isDue() && queue.free() > 1) {
            queue.readFlushWord(visibility.next());
        }
        messages.send();
    }

    @Override
    public void messageReceived(MemorySegment buffer, long at, int length) {
        if (state.phase() != Phase.CLOSED) {
            messages.received(buffer, at, length);
        }
    }

    @Override
    public void immediateReceived(int number) {
        if (state.phase() != Phase.CLOSED) {
            messages.immediateReceived(number);
        }
    }

    /** Returns the part that makes its writes visible. */
    LaneVisibility visibility() {
        return visibility;
    }

    // ---- when it breaks ----

    @Override
    public void unexpected(Throwable error) {
        if (error instanceof SluiceException known) {
            // a device has failed
            context.failed(known);
            return;
        }
        LOG.error("an unexpected error on lane {} of {}", state.index(), context, error);
        context.failed("an unexpected error on lane " + state.index() + "; see that engine's log");
    }

    @Override
    public void railEvent(RailEvent event) {
        recovery.railEvent(event);
    }

    /** The peer has fenced the lane. */
    void peerFenced(Fence fence) {
        recovery.peerFenced(fence);
    }

    /** The peer reports on the region that its adapter refused. */
    void peerRefused(boolean attached) {
        recovery.peerRefused(attached);
    }

    /** The peer's new queue pair is connected. */
    void peerReady(int incarnation) {
        recovery.peerReady(incarnation);
    }

    /** Tries to revive a lane that is down. */
    void revive() {
        recovery.revive();
    }

    // ---- watchdog and end ----

    private boolean hasWork() {
        return !places.isEmpty()
                || !requests.awaited().isEmpty()
                || messages.waiting() > 0
                || (!state.isOpen() && !state.isDown());
    }

    boolean isStuck(long now, long timeoutNanos) {
        return watchdog.isStuck(now, timeoutNanos);
    }

    /** Ends everything: completes each request; nothing accesses memory any more. */
    void close() {
        if (state.phase() == Phase.CLOSED) {
            return;
        }
        state.enter(Phase.CLOSED);
        recovery.close();
        queuePair.destroy();
        work.close();
        messages.close();
        visibility.clear();
        leave();
    }
}
