package io.sluice.engine.transport.verbs;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.engine.transport.verbs.LaneState.Phase;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The messages of a lane in both directions: those that wait for credits and room, what the peer's messages report, and
 * the answers to its requests. Another lane carries the messages of a lane that is down. Confined to the loop.
 */
@SuppressWarnings("ReferenceEquality") // requests and messages are their own identities
final class LaneMessages implements LaneTarget.Asker {
    // an honest peer has a few times its credits in flight
    private static final int MOST_WAITING_ANSWERS = 8_192;

    private final LaneState state;
    private final LaneContext context;
    private final SiblingLanes siblings;
    private final LoopLanes shared;
    private final LaneSendQueue queue;
    private final LaneRequests requests;
    private final LaneWatchdog watchdog;
    private final MessageWindow window;
    private final PeerSignalTable knownSignals = new PeerSignalTable();
    private @Nullable LaneMessages deputy;

    LaneMessages(
            LaneState state,
            LaneContext context,
            SiblingLanes siblings,
            LoopLanes shared,
            LaneSendQueue queue,
            LaneRequests requests,
            LaneWatchdog watchdog) {
        this.state = state;
        this.context = context;
        this.siblings = siblings;
        this.shared = shared;
        this.queue = queue;
        this.requests = requests;
        this.watchdog = watchdog;
        this.window = new MessageWindow(shared::free);
    }

    /** The most messages in flight in one direction, as both sides agreed. */
    void credits(int agreed) {
        window.credits(agreed);
    }

    // ---- out ----

    /** Returns an empty message of this lane. */
    VerbsMessage message(int type) {
        return shared.message(type, state);
    }

    /** Queues a message behind those that wait. */
    void enqueue(VerbsMessage message) {
        watchdog.workBegins();
        if (message.type() == VerbsMessage.ANSWER) {
            message.origin().owed().answerWaits(message.value(0));
        }
        if (message.origin() != state) {
            carry(message);
            return;
        }
        window.add(message);
        state.scheduleFlush();
    }

    /** Queues a message of another lane, or one that the other lane carries for a third. */
    private void carry(VerbsMessage message) {
        if (!message.isEntrusted()) {
            message.entrust();
            message.origin().entrusted();
        }
        window.add(message);
        state.scheduleFlush();
    }

    /** The number of messages that wait. */
    int waiting() {
        return window.waiting();
    }

    /** Adds as many messages to the batch as credits and room allow; keeps one slot for reports. */
    void send() {
        VerbsMessage message;
        while (queue.free() > 1 && (message = window.pollSendable()) != null) {
            send(message);
        }
        if (isReportDue() && window.hasCreditForReport() && queue.free() > 0) {
            send(message(VerbsMessage.CREDIT));
        }
    }

    private boolean isReportDue() {
        return state.owed().isTellingDue() || window.isReceiptDue();
    }

    private void send(VerbsMessage message) {
        PendingReplies ofOrigin = message.origin().owed();
        AwaitedAnswer request = message.awaited();
        if (request != null && !message.isEnrolled()) {
            message.enrolled(true);
            requests.awaited().add(request);
        }
        if (message.type() == VerbsMessage.WRITE_WITH_SIGNAL && request != null) {
            request.entersTheWire();
            queue.transferWithImmediate(request.request(), message.immediate(), request);
        } else {
            long tell = ofOrigin.toTell();
            if (message.type() == VerbsMessage.ANSWER) {
                // the answer carries the sequence number of its own request
                ofOrigin.answerLeaves();
                tell = message.value(0);
            }
            queue.send(message, window.nextBuffer(), window.totalReceived(), tell);
            window.receiptTold();
            ofOrigin.told(tell);
        }
        window.sent(message);
    }

    // ---- in ----

    /** A message of the peer has arrived. */
    void received(MemorySegment buffer, long at, int length) {
        context.count(WireCounter.RECEIVED, length);
        try {
            window.received();
            if (length < VerbsMessage.HEADER_BYTES
                    || length != VerbsMessage.HEADER_BYTES + VerbsMessage.bodyLength(buffer, at)) {
                throw new ProtocolException("the peer sent a message of " + length + " bytes on a lane");
            }
            read(buffer, at, length - VerbsMessage.HEADER_BYTES);
        } catch (ProtocolException e) {
            context.failed(e);
            return;
        }
        if (isReportDue() || window.waiting() > 0) {
            state.scheduleFlush();
        }
    }

    private void read(MemorySegment buffer, long at, int bodyLength) {
        int type = VerbsMessage.type(buffer, at);
        int words = VerbsMessage.words(type);
        if (words < 0 || bodyLength < words * Long.BYTES) {
            throw new ProtocolException(
                    "the peer sent a message of type " + type + " with " + bodyLength + " bytes on a lane");
        }
        if (window.receivedByPeer(VerbsMessage.received(buffer, at))) {
            watchdog.progress();
            context.roomMade();
        }
        siblings.messages(VerbsMessage.lane(buffer, at)).answered(type, buffer, at);
        switch (type) {
            case VerbsMessage.SIGNAL, VerbsMessage.FETCH_ADD, VerbsMessage.COMPARE_AND_SWAP ->
                context.target().execute(this, type, buffer, at);
            case VerbsMessage.WAKE -> context.target().wake(buffer, at);
            case VerbsMessage.DEFINE_SIGNAL -> {
                if (!knownSignals.define(
                        VerbsMessage.word(buffer, at, 0),
                        VerbsMessage.word(buffer, at, 1),
                        VerbsMessage.word(buffer, at, 2),
                        VerbsMessage.word(buffer, at, 3),
                        VerbsMessage.word(buffer, at, 4),
                        VerbsMessage.word(buffer, at, 5))) {
                    throw new ProtocolException("the peer defined a signal beyond the table's end");
                }
            }
            case VerbsMessage.NOTIFICATION, VerbsMessage.MARKER ->
                context.notificationReceived(type, buffer, at, bodyLength - words * Long.BYTES);
            default -> {}
        }
    }

    /** A message on any lane reports which requests of this one are answered. */
    private void answered(int type, MemorySegment buffer, long at) {
        OutstandingRequests awaited = requests.awaited();
        if (type == VerbsMessage.ANSWER) {
            awaited.answer(
                    VerbsMessage.word(buffer, at, 0),
                    (int) VerbsMessage.word(buffer, at, 1),
                    VerbsMessage.word(buffer, at, 2));
        }
        if (awaited.succeedTo(VerbsMessage.answered(buffer, at)) || type == VerbsMessage.ANSWER) {
            watchdog.progress();
            requests.completeAnswered();
        }
    }

    /** A write of the peer has arrived whose immediate names a signal. */
    void immediateReceived(int number) {
        try {
            window.received();
            if (!knownSignals.isKnown(number)) {
                throw new ProtocolException("the peer sent an immediate that names an undefined signal");
            }
            context.target().signal(this, knownSignals, number);
        } catch (ProtocolException e) {
            context.failed(e);
            return;
        }
        state.scheduleFlush();
    }

    // ---- requests of the peer ----

    @Override
    public void handled() {
        state.owed().handled();
    }

    /**
     * {@inheritDoc} Every few messages the peer reports how many it has received, so that it gets credits for more requests
     * only as it receives answers.
     */
    @Override
    public void handled(CompletionStatus status, long value) {
        PendingReplies owed = state.owed();
        if (owed.waiting() >= MOST_WAITING_ANSWERS) {
            throw new ProtocolException("the peer sends requests on a lane without receiving the answers: "
                    + owed.waiting() + " wait, and no more may");
        }
        long number = owed.handled();
        standIn()
                .enqueue(message(VerbsMessage.ANSWER)
                        .word(number)
                        .word(status.code())
                        .word(value));
    }

    /** This lane, or the one that sends its messages while it is down. */
    private LaneMessages standIn() {
        LaneMessages lane = this;
        while (lane.state.phase() == Phase.DOWN && lane.deputy != null) {
            lane = lane.deputy;
        }
        if (lane != this) {
            // keep the same carrier: its earlier messages must not be overtaken
            deputy = lane;
        }
        return lane;
    }

    /** The lane is down: another lane sends its reports to the peer. */
    void reportThroughDeputy() {
        LaneMessages through = standIn();
        if (through != this && state.owed().isTellingDue()) {
            through.enqueue(message(VerbsMessage.CREDIT));
        }
    }

    // ---- when the lane breaks ----

    /** Returns how many messages of the peer have arrived since the lane began; the caller reports it to the peer. */
    long tellReceived() {
        window.receiptTold();
        return window.totalReceived();
    }

    /**
     * Checks how many messages the peer reports to have received since the lane began.
     *
     * @throws ProtocolException if that many were not sent
     */
    void checkReceivedByPeer(long total) {
        window.checkReceivedByPeer(total);
    }

    /** Takes back, in order, the messages that the peer has not received, and completes the others. */
    List<VerbsMessage> takeUnreceived(long receivedTotal) {
        List<VerbsMessage> lost = window.settle(receivedTotal, arrived -> {
            AwaitedAnswer request = arrived.awaited();
            if (request != null) {
                // a write with an immediate that has arrived is complete, even if its acknowledgement was lost
                request.leftTheWire();
            }
        });
        for (VerbsMessage message : lost) {
            message.origin().tellAgain();
        }
        requests.completeAnswered();
        return lost;
    }

    /** Queues messages that the peer has not received before all others, except for the one that broke the lane. */
    void putBack(List<VerbsMessage> unsent, @Nullable Object failedRequest) {
        for (int i = unsent.size() - 1; i >= 0; i--) {
            VerbsMessage message = unsent.get(i);
            if ((failedRequest != null && message.awaited() == failedRequest)
                    || message.type() == VerbsMessage.CREDIT) {
                shared.free(message);
            } else {
                window.putBack(message);
            }
        }
    }

    /**
     * The lane goes down: another lane carries its messages, and its requests are posted again.
     *
     * @param unsent the messages that the peer has not received
     * @param failedRequest the request that broke the lane, or null
     * @param again receives the requests
     */
    void moveAway(List<VerbsMessage> unsent, @Nullable Object failedRequest, List<WorkRequest> again) {
        unsent.addAll(window.takeWaiting());
        LaneMessages other = siblings.carrierFor(state.index());
        deputy = other;
        for (VerbsMessage message : unsent) {
            AwaitedAnswer request = message.awaited();
            if (request != null && request == failedRequest) {
                shared.free(message);
            } else if (request != null) {
                requests.giveUp(request, again);
                shared.free(message);
            } else if (other == null
                    || message.type() == VerbsMessage.CREDIT
                    || message.type() == VerbsMessage.DEFINE_SIGNAL) {
                // it may have reported the answered requests of another lane that is down
                message.origin().scheduleFlush();
                shared.free(message);
            } else {
                other.carry(message);
            }
        }
    }

    /** Forgets which answers wait here, before {@link #countAnswers} finds them again. */
    void forgetAnswers() {
        state.owed().forgetWaiting();
    }

    /** Counts the answers that wait here, each for its own lane. */
    void countAnswers() {
        window.forEachWaiting(message -> {
            if (message.type() == VerbsMessage.ANSWER) {
                message.origin().owed().answerWaits(message.value(0));
            }
        });
    }

    /** The lane is closed: no message is sent any more, and the requests among them were not executed. */
    void close() {
        for (VerbsMessage message : window.takeWaiting()) {
            AwaitedAnswer request = message.awaited();
            if (request != null && !message.isEnrolled()) {
                requests.complete(request.request(), CompletionStatus.FLUSHED_UNSENT);
            }
        }
    }
}
