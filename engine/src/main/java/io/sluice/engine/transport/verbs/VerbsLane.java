package io.sluice.engine.transport.verbs;

import io.sluice.engine.ProtocolException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransportMetrics.PathState;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Deadline;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.WireCounter;
import io.sluice.engine.transport.WorkRequest;
import io.sluice.engine.transport.verbs.ControlMessage.Fence;
import io.sluice.engine.transport.verbs.VerbsOffer.OfferedLane;
import io.sluice.engine.transport.verbs.VerbsOffer.OfferedRail;
import io.sluice.jni.Errno;
import io.sluice.jni.VerbsCompletionQueue;
import io.sluice.jni.VerbsQueuePair;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A queue pair and what is under way on it. When it breaks, both sides destroy their queue pairs, tell each other over the
 * control channel, and connect new ones: an incarnation of the lane ends and the next begins. Confined to the loop.
 */
@SuppressWarnings("ReferenceEquality") // requests and messages are their own identities
final class VerbsLane implements LaneGroup.Member, LaneTarget.Asker {
    // an honest peer has a few times its credits of them
    private static final int MOST_WAITING_ANSWERS = 8_192;
    private static final Logger LOG = LoggerFactory.getLogger(VerbsLane.class);
    private static final int CREDITS = LaneGroup.CREDITS;
    // kept for messages, and for the reads that make writes visible
    private static final int RESERVED_PLACES = CREDITS + 16;
    private static final long FLUSH_NANOS = 200_000_000;
    private static final long FLUSH_CHECK_NANOS = 1_000_000;
    private static final long CONNECT_AGAIN_NANOS = 50_000_000;
    // a path that breaks so often under one request carries it never
    private static final int MAX_BREAKS = 8;
    private static final int SEQUENCE_MASK = 0xff_ffff;

    // what stands in the send queue beside work requests, awaited answers and visibility requests
    private static final Object MESSAGE = new Object();
    private static final Object PART = new Object();
    private static final Object PROBE = new Object();

    private enum State {
        /** Not connected for the first time yet. */
        NEW,
        OPEN,
        /** The queue pair is in the error state, and its work is being flushed. */
        BREAKING,
        /** The queue pair is gone; the peer has not said so of its own yet. */
        FENCED,
        /** Both sides have fenced, but the port is down, and there is no other path: it may come back. */
        WAITING,
        /** The next queue pairs are connected on this side. */
        CONNECTED,
        /** Both sides are connected; a read makes sure that the path works. */
        PROBING,
        /** Out of use. */
        DOWN,
        CLOSED
    }

    private final VerbsEndpoint endpoint;
    private final LoopLanes shared;
    private final VerbsOptions options;
    private final int index;
    private final LaneGroup group;
    private final int slot;
    private final LaneSendQueue queue;
    private final SendPlaces places;
    private final int workPlaces;
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

    // other threads look at it
    private volatile State state = State.NEW;
    private long queuePair;
    private int sequence;
    private @Nullable OfferedRail peerPort;

    private long load;
    private final MessageWindow messages;
    private final AwaitedAnswers awaited = new AwaitedAnswers();
    private final OwedAnswers owed = new OwedAnswers();
    private DefinedSignals definedSignals = new DefinedSignals();
    private final KnownSignals knownSignals = new KnownSignals();

    private boolean writtenSinceNotification;
    private boolean writtenSinceVisible;
    private final ArrayDeque<VisibilityRequest> visibilityDue = new ArrayDeque<>();
    private int visibilityUnderWay;

    // the end of an incarnation
    private int incarnation;
    private int peerReadyFor = -1;
    private @Nullable Fence peerFence;
    private int offeredNumber;
    private @Nullable Fence awaitedPeer;
    private boolean pathFailed;
    private long brokenSince;
    private long flushedTo;
    private @Nullable Object refused;
    private @Nullable VerbsRemoteKey refusedKey;
    private int postRefusals;
    private CompletionStatus refusedStatus = CompletionStatus.ACCESS_DENIED;
    private boolean verdictAwaited;
    private @Nullable VerbsLane deputy;
    // messages of this lane that others carry
    private int entrusted;

    private boolean wasDown;
    private boolean flushScheduled;
    private final Runnable flush = this::flush;
    private long lastProgress;

    VerbsLane(VerbsEndpoint endpoint, LoopLanes shared, VerbsOptions options, int index, LaneGroup group) {
        this.endpoint = endpoint;
        this.shared = shared;
        this.options = options;
        this.index = index;
        this.group = group;
        this.messages = new MessageWindow(shared::free);
        this.workPlaces = group.sendDepth() - RESERVED_PLACES;
        this.slot = group.enter(this);
        this.queue = new LaneSendQueue(this, shared.batch(), group, slot);
        this.places = queue.places();
        try {
            makeQueuePair();
        } catch (SluiceException e) {
            group.leave(slot);
            shared.left(group);
            throw e;
        }
        this.lastProgress = shared.loop().now();
    }

    // ---- life ----

    private void makeQueuePair() {
        queuePair = group.createQueuePair(slot, group.rail().port().number(), options.partitionKeyIndex());
        queue.use(queuePair, group.idBase(slot));
        sequence = endpoint.randomSequence() & SEQUENCE_MASK;
    }

    private void destroyQueuePair() {
        if (queuePair != 0) {
            // what the batch holds may be for this queue pair, whose address is about to become invalid
            shared.batch().post();
            VerbsQueuePair.toError(queuePair);
            group.drainBeforeDestroying();
            group.destroyQueuePair(slot, queuePair);
            queuePair = 0;
        }
    }

    int index() {
        return index;
    }

    Rail rail() {
        return group.rail();
    }

    /** The place of the peer's port among its rails. */
    int peerRail() {
        return queue.peerRail();
    }

    OfferedLane offer() {
        return new OfferedLane(group.rail().index(), VerbsQueuePair.number(queuePair), sequence);
    }

    /** Connects the queue pair for the first time. */
    void connect(OfferedLane peer, OfferedRail port, int agreedCredits) {
        queue.reach(peer.rail(), port);
        peerPort = port;
        messages.credits(agreedCredits);
        connect(peer.number(), peer.sequence());
        state = State.OPEN;
    }

    private void connect(int number, int peerSequence) {
        OfferedRail port = peerPort;
        if (port == null) {
            throw new IllegalStateException("the peer's port is not known");
        }
        QueuePairPath.connect(queuePair, sequence, group.rail(), options, port, number, peerSequence);
    }

    boolean isOpen() {
        return state == State.OPEN;
    }

    /** For any thread. */
    PathState pathState() {
        return switch (state) {
            case OPEN -> PathState.UP;
            case DOWN, CLOSED -> PathState.DOWN;
            case NEW, BREAKING, FENCED, WAITING, CONNECTED, PROBING -> PathState.HEALING;
        };
    }

    /** So much was added to the batch. */
    void sent(long bytes) {
        endpoint.count(WireCounter.SENT, bytes);
    }

    boolean isDown() {
        return state == State.DOWN || state == State.CLOSED;
    }

    // ---- work requests ----

    /** Bytes under way, with a share for each request's own cost. */
    long load() {
        return load;
    }

    boolean hasRoom() {
        return state == State.OPEN && places.count() + 2 <= workPlaces && messages.waiting() < CREDITS;
    }

    /** Adds a request to the batch, or to the messages. */
    void post(WorkRequest request) {
        markWorkBegins();
        load += request.length() + Message.BYTES;
        VerbsRemoteKey remote = (VerbsRemoteKey) request.remote();
        switch (request.operation()) {
            case WRITE -> write(request);
            case READ -> queue.transfer(VerbsQueuePair.READ, request, request);
            case PUT -> queue.put(request);
            case SIGNAL, FETCH_ADD, COMPARE_AND_SWAP -> {
                if (remote.hasAdapterAtomics()) {
                    queue.atomic(request);
                    if (request.operation() == WorkRequest.Operation.SIGNAL) {
                        wake(remote, request.remoteOffset());
                    }
                } else {
                    ask(request);
                }
            }
        }
        if (request.operation().changesRemote()) {
            writtenSinceNotification = true;
            writtenSinceVisible = true;
        }
    }

    private void write(WorkRequest request) {
        if (!request.hasSignal()) {
            queue.transfer(VerbsQueuePair.WRITE, request, request);
            return;
        }
        VerbsRemoteKey signal = (VerbsRemoteKey) request.signal();
        if (signal.hasAdapterAtomics()) {
            queue.transfer(VerbsQueuePair.WRITE, request, PART);
            queue.signalOf(request);
            wake(signal, request.signalOffset());
            return;
        }
        int number = DefinedSignals.number(request);
        if (!definedSignals.define(number, request)) {
            enqueue(shared.message(Message.DEFINE_SIGNAL, this)
                    .word(number)
                    .word(signal.handle())
                    .word(signal.key())
                    .word(signal.epoch())
                    .word(request.signalOffset())
                    .word(request.signalAddend()));
        }
        enqueue(shared.message(Message.WRITE_WITH_SIGNAL, this)
                .immediate(number)
                .request(shared.answer().begin(request, true)));
    }

    /** Tells the peer's engine of a word that no processor of its host has changed; it comes after the change. */
    private void wake(VerbsRemoteKey key, long offset) {
        enqueue(shared.message(Message.WAKE, this)
                .word(key.handle())
                .word(key.key())
                .word(key.epoch())
                .word(offset));
    }

    /** Sends a request that the peer's engine carries out. */
    private void ask(WorkRequest request) {
        int type = switch (request.operation()) {
            case SIGNAL -> Message.SIGNAL;
            case FETCH_ADD -> Message.FETCH_ADD;
            default -> Message.COMPARE_AND_SWAP;
        };
        Message message = shared.message(type, this)
                .word(request.remote().handle())
                .word(request.remote().key())
                .word(request.remote().epoch())
                .word(request.remoteOffset())
                .word(request.operand());
        if (type == Message.COMPARE_AND_SWAP) {
            message.word(request.expected());
        }
        enqueue(message.request(shared.answer().begin(request, false)));
    }

    // ---- messages out ----

    /** Puts a message behind those that wait. */
    void enqueue(Message message) {
        markWorkBegins();
        if (message.type() == Message.ANSWER) {
            message.origin().owed.answerWaits(message.value(0));
        }
        if (message.origin() != this) {
            carry(this, message);
            return;
        }
        messages.add(message);
        scheduleFlush();
    }

    /** The number of messages that wait. */
    int waitingMessages() {
        return messages.waiting();
    }

    void scheduleFlush() {
        if (!flushScheduled) {
            flushScheduled = true;
            shared.loop().atEndOfCycle(flush);
        }
    }

    private void flush() {
        flushScheduled = false;
        if (state == State.DOWN) {
            reportThroughDeputy();
            return;
        }
        if (state != State.OPEN) {
            return;
        }
        while (!visibilityDue.isEmpty() && hasPlace()) {
            queue.readLandmark(visibilityDue.removeFirst());
        }
        sendMessages();
        shared.batch().post();
    }

    /** A place beyond those that work requests may take; one is kept for reports. */
    private boolean hasPlace() {
        return places.count() < group.sendDepth() - 1;
    }

    /** Adds what credits and room allow to the batch. */
    void sendMessages() {
        Message message;
        while (hasPlace() && (message = messages.pollSendable()) != null) {
            send(message);
        }
        if (isReportDue() && messages.hasCreditForReport() && places.count() < group.sendDepth()) {
            send(shared.message(Message.CREDIT, this));
        }
    }

    private boolean isReportDue() {
        return owed.isTellingDue() || messages.isReceiptDue();
    }

    private void send(Message message) {
        OwedAnswers ofOrigin = message.origin().owed;
        AwaitedAnswer request = message.awaited();
        if (request != null && !message.isEnrolled()) {
            message.enrolled(true);
            awaited.add(request);
        }
        if (message.type() == Message.WRITE_WITH_SIGNAL && request != null) {
            request.entersTheWire();
            queue.transferWithImmediate(request.request(), message.immediate(), request);
        } else {
            long tell = ofOrigin.toTell();
            if (message.type() == Message.ANSWER) {
                // its own number is told with it
                ofOrigin.answerLeaves();
                tell = message.value(0);
            }
            queue.send(message, messages.nextBuffer(), messages.totalReceived(), tell, MESSAGE);
            messages.receiptTold();
            ofOrigin.told(tell);
        }
        messages.sent(message);
    }

    // ---- completions ----

    @Override
    public void completed(int place, int status, int vendorError) {
        if (state == State.DOWN || state == State.CLOSED || state == State.NEW) {
            return;
        }
        long at = places.find(place);
        if (at < 0) {
            return;
        }
        if (status == VerbsCompletionQueue.SUCCESS) {
            if (state != State.PROBING) {
                // that a small read gets through says nothing of what broke the lane
                lastProgress = shared.loop().now();
            }
            retireTo(at + 1);
            endpoint.roomMade();
            if (messages.waiting() > 0 || !visibilityDue.isEmpty()) {
                scheduleFlush();
            }
            return;
        }
        if (state == State.BREAKING) {
            if (status != VerbsCompletionQueue.FLUSHED && refused == null) {
                // the peer's fence, or an event, has come before what broke the queue pair
                retireTo(at);
                blame(status);
            }
            // flushed: what stands there is taken care of when the lane is fenced
            flushedTo = Math.max(flushedTo, at + 1);
            return;
        }
        retireTo(at);
        failed(status, vendorError);
    }

    private void retireTo(long end) {
        while (places.first() < end) {
            long place = places.first();
            Object done = places.removeFirst();
            if (done instanceof WorkRequest request) {
                if (request.operation().bringsBack()) {
                    endpoint.count(WireCounter.RECEIVED, request.length());
                }
                if (request.operation().isFetching()) {
                    request.fetched(queue.fetched(place));
                }
                postRefusals = 0;
                complete(request, CompletionStatus.SUCCESS);
            } else if (done instanceof AwaitedAnswer request) {
                request.leftTheWire();
                completeAnswered();
            } else if (done instanceof VisibilityRequest request) {
                visibilityUnderWay--;
                request.arrived();
            } else if (done == PROBE) {
                probed();
            }
        }
    }

    private void complete(WorkRequest request, CompletionStatus status) {
        load -= request.length() + Message.BYTES;
        endpoint.completed(request, status);
    }

    /** Requests complete in the order in which the peer answers them. */
    private void completeAnswered() {
        AwaitedAnswer done;
        while ((done = awaited.pollDone()) != null) {
            WorkRequest request = done.request();
            CompletionStatus status = done.status();
            shared.free(done);
            complete(request, status);
        }
    }

    /** The work request at the first place has failed. */
    private void failed(int status, int vendorError) {
        blame(status);
        breakDown(VerbsCompletionQueue.statusText(status)
                + (vendorError == 0 ? "" : " (vendor error " + vendorError + ")"));
    }

    /** Finds out whether the request at the first place is to blame, or the path. */
    private void blame(int status) {
        Object culprit = places.peek(0);
        boolean bytesOfSignal = culprit == PART;
        if (bytesOfSignal) {
            culprit = places.peek(1);
        }
        WorkRequest request = culprit instanceof WorkRequest work
                ? work
                : culprit instanceof AwaitedAnswer answer ? answer.request() : null;
        if (request != null) {
            int failures = endpoint.failed(request);
            CompletionStatus end =
                    WorkErrors.of(status, request, failures, group.rail().isPortActive());
            if (end != null) {
                refused = culprit;
                refusedStatus = end;
                boolean signal = culprit == request && request.hasSignal() && !bytesOfSignal;
                refusedKey = (VerbsRemoteKey) (signal ? request.signal() : request.remote());
            } else if (failures >= MAX_BREAKS) {
                endpoint.failed("lane " + index + " broke again and again under the same request: "
                        + VerbsCompletionQueue.statusText(status));
            }
        }
        pathFailed |= WorkErrors.isPathFailure(status);
    }

    /** The adapter did not take a request of the batch, nor any of this lane that followed. */
    void postRefused(int error) {
        if (++postRefusals > MAX_BREAKS) {
            endpoint.failed("lane " + index + ": posting fails again and again: " + Errno.message(error));
        }
        breakDown("posting failed: " + Errno.message(error));
    }

    // ---- messages in ----

    @Override
    public void messageReceived(MemorySegment buffer, long at, int length) {
        if (state == State.CLOSED) {
            return;
        }
        endpoint.count(WireCounter.RECEIVED, length);
        try {
            messages.received();
            if (length < Message.HEADER_BYTES || length != Message.HEADER_BYTES + Message.bodyLength(buffer, at)) {
                throw new ProtocolException("a message on a lane has " + length + " bytes");
            }
            read(buffer, at, length - Message.HEADER_BYTES);
        } catch (ProtocolException e) {
            endpoint.failed(e);
            return;
        }
        if (isReportDue() || messages.waiting() > 0) {
            scheduleFlush();
        }
    }

    private void read(MemorySegment buffer, long at, int bodyLength) {
        int type = Message.type(buffer, at);
        int words = Message.words(type);
        if (words < 0 || bodyLength < words * Long.BYTES) {
            throw new ProtocolException("a message of type " + type + " with " + bodyLength + " bytes on a lane");
        }
        if (messages.receivedByPeer(Message.received(buffer, at))) {
            lastProgress = shared.loop().now();
            endpoint.roomMade();
        }
        VerbsLane origin = endpoint.lane(Message.lane(buffer, at));
        if (type == Message.ANSWER) {
            origin.awaited.answer(
                    Message.word(buffer, at, 0), (int) Message.word(buffer, at, 1), Message.word(buffer, at, 2));
        }
        if (origin.awaited.succeedTo(Message.answered(buffer, at)) || type == Message.ANSWER) {
            origin.lastProgress = shared.loop().now();
            origin.completeAnswered();
        }
        switch (type) {
            case Message.SIGNAL, Message.FETCH_ADD, Message.COMPARE_AND_SWAP ->
                endpoint.target().carryOut(this, type, buffer, at);
            case Message.WAKE -> endpoint.target().wake(buffer, at);
            case Message.DEFINE_SIGNAL -> {
                if (!knownSignals.define(
                        Message.word(buffer, at, 0),
                        Message.word(buffer, at, 1),
                        Message.word(buffer, at, 2),
                        Message.word(buffer, at, 3),
                        Message.word(buffer, at, 4),
                        Message.word(buffer, at, 5))) {
                    throw new ProtocolException("a signal is defined that has no place");
                }
            }
            case Message.NOTIFICATION, Message.MARKER ->
                endpoint.notifications().received(type, buffer, at, bodyLength - words * Long.BYTES);
            default -> {}
        }
    }

    @Override
    public void immediateReceived(int number) {
        if (state == State.CLOSED) {
            return;
        }
        try {
            messages.received();
            if (!knownSignals.isKnown(number)) {
                throw new ProtocolException("an immediate names a signal that was not defined");
            }
            endpoint.target().signal(this, knownSignals, number);
        } catch (ProtocolException e) {
            endpoint.failed(e);
            return;
        }
        scheduleFlush();
    }

    // ---- requests of the peer ----

    @Override
    public void handled() {
        owed.handled();
    }

    /**
     * {@inheritDoc} The peer says to have received a few messages now and then, so that it gets credits for more requests than
     * it takes answers.
     */
    @Override
    public void handled(CompletionStatus status, long value) {
        if (owed.waiting() >= MOST_WAITING_ANSWERS) {
            throw new ProtocolException("the peer asks on a lane and does not take its answers: " + owed.waiting()
                    + " wait, and no more may");
        }
        long number = owed.handled();
        standIn()
                .enqueue(shared.message(Message.ANSWER, this)
                        .word(number)
                        .word(status.code())
                        .word(value));
    }

    /** Has another lane carry a message of this one or of one that this one carries for. */
    private static void carry(VerbsLane carrier, Message message) {
        if (!message.isEntrusted()) {
            message.entrust();
            message.origin().entrusted++;
        }
        carrier.messages.add(message);
        carrier.scheduleFlush();
    }

    /** A message of this lane has arrived that another has carried. */
    void entrustedDone() {
        entrusted--;
    }

    /** This lane, or the one that speaks for it while it is down. */
    private VerbsLane standIn() {
        VerbsLane lane = this;
        while (lane.state == State.DOWN && lane.deputy != null) {
            lane = lane.deputy;
        }
        if (lane != this) {
            // it stays the same: what it carries must not be overtaken
            deputy = lane;
        }
        return lane;
    }

    private void reportThroughDeputy() {
        VerbsLane through = standIn();
        if (through != this && owed.isTellingDue()) {
            through.enqueue(shared.message(Message.CREDIT, this));
        }
    }

    // ---- what makes writes visible ----

    boolean takeWrittenSinceNotification() {
        boolean written = writtenSinceNotification;
        writtenSinceNotification = false;
        return written;
    }

    boolean takeWrittenSinceVisible() {
        // what an earlier one waits for is not proven yet either
        boolean written = writtenSinceVisible || visibilityUnderWay > 0;
        writtenSinceVisible = false;
        return written;
    }

    /** A read after the writes on this queue pair returns when they are in the peer's memory. */
    void makeVisible(VisibilityRequest request) {
        markWorkBegins();
        request.expect();
        visibilityUnderWay++;
        visibilityDue.addLast(request);
        scheduleFlush();
    }

    // ---- when it breaks ----

    @Override
    public void unexpected(Throwable error) {
        LOG.error("an unexpected error on lane {} of {}", index, endpoint, error);
        endpoint.failed("an unexpected error on lane " + index + "; it is in the log of the engine that met it");
    }

    @Override
    public void railEvent(RailEvent event) {
        switch (event) {
            case QUEUE_PAIR_FAILED -> breakDown("the adapter reports an error of the queue pair");
            case REMOVED -> {
                pathFailed = true;
                breakDown(group.rail() + " has failed or was removed");
            }
            case DOWN -> {
                if (endpoint.hasOpenLaneBeside(this)) {
                    pathFailed = true;
                    breakDown("the port of " + group.rail() + " is down");
                }
            }
            case QUEUE_FAILED -> endpoint.failed("a queue of " + group.rail() + " has failed");
            case ACTIVE -> {
                revive();
                reconnectWhenPossible();
            }
        }
    }

    private void breakDown(String reason) {
        if (state == State.NEW) {
            endpoint.failed("lane " + index + ": " + reason);
            return;
        }
        if (state != State.OPEN && state != State.PROBING && state != State.CONNECTED && state != State.WAITING) {
            return;
        }
        awaitedPeer = null;
        shared.loop().disarm(connectAgain);
        markWorkBegins();
        LOG.info("lane {} of {} on {} breaks: {}", index, endpoint, group.rail(), reason);
        state = State.BREAKING;
        brokenSince = shared.loop().now();
        flushedTo = places.first();
        VerbsQueuePair.toError(queuePair);
        // not at once: this may be said in the middle of completions
        shared.loop().execute(this::fenceWhenFlushed);
    }

    /** What the adapter still has comes back as flushed; one that does not answer is not waited for long. */
    private void fenceWhenFlushed() {
        if (state != State.BREAKING) {
            return;
        }
        group.drain();
        EventLoop loop = shared.loop();
        if (state == State.BREAKING
                && !places.isEmpty()
                && flushedTo <= places.last()
                && loop.now() - brokenSince < FLUSH_NANOS) {
            loop.arm(flushCheck, loop.now() + FLUSH_CHECK_NANOS);
            return;
        }
        fence();
    }

    /** From here on nothing of this incarnation can happen on this side; the peer is told. */
    private void fence() {
        if (state != State.BREAKING) {
            return;
        }
        destroyQueuePair();
        state = State.FENCED;
        endpoint.count(WireCounter.FENCES, 1);
        prepareNext(!(pathFailed && endpoint.hasOpenLaneBeside(this)));
        resumeWhenReady();
    }

    /** The peer has fenced as well, and has said what it knows. */
    private void resumeWhenReady() {
        Fence peer = peerFence;
        if (peer != null && state == State.FENCED && !verdictAwaited) {
            resume(peer);
        }
    }

    private void prepareNext(boolean again) {
        offeredNumber = 0;
        if (again && !group.rail().isRemoved()) {
            try {
                makeQueuePair();
                offeredNumber = VerbsQueuePair.number(queuePair);
            } catch (SluiceException e) {
                LOG.warn("lane {} of {} stays down: {}", index, endpoint, e.getMessage());
            }
        }
        VerbsRemoteKey key = refusedKey;
        long handle = -1;
        if (refused != null && key != null && refusedStatus == CompletionStatus.ACCESS_DENIED) {
            handle = key.handle();
            verdictAwaited = true;
        }
        endpoint.send(
                new Fence(index, incarnation, messages.totalReceived(), offeredNumber, sequence, handle).toBytes());
        messages.receiptTold();
    }

    /** The peer has fenced the lane. */
    void peerFenced(Fence fence) {
        if (fence.incarnation() != incarnation || peerFence != null) {
            throw new ProtocolException("the peer fences lane " + index + " out of turn");
        }
        messages.checkReceivedByPeer(fence.received());
        peerFence = fence;
        switch (state) {
            case OPEN, PROBING, CONNECTED, WAITING -> breakDown("the peer fences it");
            case FENCED -> resumeWhenReady();
            case DOWN -> {
                // it wants to come back
                lastProgress = shared.loop().now();
                state = State.FENCED;
                prepareNext(group.rail().isUsable() && entrusted == 0);
                resumeWhenReady();
            }
            default -> {}
        }
    }

    /** The peer says what became of the region that its adapter refused. */
    void peerRefused(boolean attached) {
        if (!verdictAwaited) {
            throw new ProtocolException("the peer was not asked about a region");
        }
        verdictAwaited = false;
        if (!attached) {
            refusedStatus = CompletionStatus.UNKNOWN_REGION;
            VerbsRemoteKey key = refusedKey;
            if (key != null) {
                key.end();
            }
        }
        resumeWhenReady();
    }

    /** Both sides have fenced: nothing of the old incarnation happens any more, and each knows what has arrived. */
    private void resume(Fence peer) {
        peerFence = null;
        incarnation++;
        List<WorkRequest> again = new ArrayList<>();
        // in this order: an answer that is done is used again, and must not stand in the send queue any more
        takeUnfinished(again);
        List<Message> unsent = takeUnreceived(peer.received());
        boolean down = offeredNumber == 0 || peer.number() == 0;
        if (down) {
            moveAway(unsent, again);
            goDown();
        } else {
            Object culprit = refused;
            refused = null;
            for (int i = unsent.size() - 1; i >= 0; i--) {
                Message message = unsent.get(i);
                if (culprit != null && message.awaited() == culprit) {
                    shared.free(message);
                } else {
                    putBack(message);
                }
            }
            finishRefused(culprit);
        }
        endpoint.again(again);
        if (!down) {
            reconnect(peer);
        }
        endpoint.laneChanged();
    }

    private void putBack(Message message) {
        if (message.type() == Message.CREDIT) {
            shared.free(message);
            return;
        }
        messages.putBack(message);
    }

    private void finishRefused(@Nullable Object culprit) {
        if (culprit instanceof AwaitedAnswer answer) {
            awaited.remove(answer);
            WorkRequest request = answer.request();
            shared.free(answer);
            complete(request, refusedStatus);
            completeAnswered();
        } else if (culprit instanceof WorkRequest request) {
            complete(request, refusedStatus);
        }
        refusedStatus = CompletionStatus.ACCESS_DENIED;
    }

    private void reconnect(Fence peer) {
        pathFailed = false;
        if (!group.rail().isPortActive() && !endpoint.hasOpenLaneBeside(this)) {
            state = State.WAITING;
            awaitedPeer = peer;
            shared.loop().arm(connectAgain, shared.loop().now() + CONNECT_AGAIN_NANOS);
            return;
        }
        try {
            connect(peer.number(), peer.sequence());
        } catch (SluiceException e) {
            boolean brokeAgain = VerbsQueuePair.state(queuePair) == VerbsQueuePair.STATE_ERROR;
            if (!brokeAgain && !endpoint.hasOpenLaneBeside(this)) {
                endpoint.failed(e);
                return;
            }
            // it broke before it was connected, or the path is gone and another rail takes over
            pathFailed = !brokeAgain;
            state = State.CONNECTED;
            breakDown(String.valueOf(e.getMessage()));
            return;
        }
        endpoint.recountAnswers();
        state = State.CONNECTED;
        endpoint.send(ControlMessage.ready(index, incarnation));
        if (peerReadyFor == incarnation) {
            probe();
        }
    }

    private void reconnectWhenPossible() {
        Fence peer = awaitedPeer;
        if (peer != null && state == State.WAITING) {
            awaitedPeer = null;
            shared.loop().disarm(connectAgain);
            reconnect(peer);
        }
    }

    /** The peer's new queue pair is connected. */
    void peerReady(int forIncarnation) {
        peerReadyFor = forIncarnation;
        if (state == State.CONNECTED && forIncarnation == incarnation) {
            probe();
        }
    }

    private void probe() {
        state = State.PROBING;
        queue.readLandmark(PROBE);
        shared.batch().post();
    }

    private void probed() {
        if (state == State.PROBING) {
            state = State.OPEN;
            wasDown = false;
            LOG.info("lane {} of {} on {} works again", index, endpoint, group.rail());
            scheduleFlush();
            endpoint.laneChanged();
        }
    }

    /** Messages that the peer has not received, in order; it has the others. */
    private List<Message> takeUnreceived(long receivedTotal) {
        List<Message> lost = messages.settle(receivedTotal, arrived -> {
            AwaitedAnswer request = arrived.awaited();
            if (request != null) {
                // a write with an immediate that has arrived is done, whatever became of its acknowledgement
                request.leftTheWire();
            }
        });
        for (Message message : lost) {
            message.origin().tellAgain();
        }
        completeAnswered();
        return lost;
    }

    /** What told the peer how many of its requests are answered has not arrived. */
    private void tellAgain() {
        owed.tellAgain();
        scheduleFlush();
    }

    /** What stood in the send queue: it is posted again, but for what must not be carried out twice. */
    private void takeUnfinished(List<WorkRequest> again) {
        while (!places.isEmpty()) {
            Object unfinished = places.removeFirst();
            if (unfinished == refused) {
                continue;
            }
            if (unfinished instanceof WorkRequest request) {
                if (request.operation().isAtomic() || request.hasSignal()) {
                    complete(request, CompletionStatus.OUTCOME_UNKNOWN);
                } else {
                    load -= request.length() + Message.BYTES;
                    again.add(request);
                }
            } else if (unfinished instanceof AwaitedAnswer answer) {
                // that queue pair is gone, and whether the write has arrived the peer says
                answer.leftTheWire();
            } else if (unfinished instanceof VisibilityRequest request) {
                visibilityDue.addFirst(request);
            }
        }
    }

    /** Another lane takes over what this one has not brought to its end. */
    private void moveAway(List<Message> unsent, List<WorkRequest> again) {
        Object culprit = refused;
        refused = null;
        unsent.addAll(messages.takeWaiting());
        VerbsLane other = endpoint.carrierFor(this);
        deputy = other;
        definedSignals = new DefinedSignals();
        for (Message message : unsent) {
            AwaitedAnswer request = message.awaited();
            if (request != null && request == culprit) {
                shared.free(message);
            } else if (request != null) {
                awaited.remove(request);
                WorkRequest work = request.request();
                load -= work.length() + Message.BYTES;
                again.add(work);
                shared.free(request);
                shared.free(message);
            } else if (other == null || message.type() == Message.CREDIT || message.type() == Message.DEFINE_SIGNAL) {
                // it may have been to tell of the requests of a lane that is down as well
                message.origin().scheduleFlush();
                shared.free(message);
            } else {
                carry(other, message);
            }
        }
        finishRefused(culprit);
        // the reads that were to come have nothing to come after any more
        VisibilityRequest request;
        while ((request = visibilityDue.pollFirst()) != null) {
            visibilityUnderWay--;
            request.arrived();
        }
        endpoint.recountAnswers();
    }

    private void goDown() {
        destroyQueuePair();
        pathFailed = false;
        state = State.DOWN;
        if (!wasDown) {
            LOG.warn("lane {} of {} on {} is out of use", index, endpoint, group.rail());
        }
        wasDown = true;
        reportThroughDeputy();
    }

    /** Tries to take a lane that is down into use again. */
    void revive() {
        // answers that others still carry for it must not be overtaken by its own
        if (state == State.DOWN
                && entrusted == 0
                && group.rail().isUsable()
                && group.rail().isPortActive()) {
            lastProgress = shared.loop().now();
            state = State.FENCED;
            prepareNext(true);
        }
    }

    void forgetAnswers() {
        owed.forgetWaiting();
    }

    void countAnswers() {
        messages.forEachWaiting(message -> {
            if (message.type() == Message.ANSWER) {
                message.origin().owed.answerWaits(message.value(0));
            }
        });
    }

    // ---- watchdog and end ----

    private boolean hasWork() {
        return !places.isEmpty()
                || !awaited.isEmpty()
                || messages.waiting() > 0
                || (state != State.OPEN && state != State.DOWN && state != State.CLOSED);
    }

    /** What was idle has made no progress because it had nothing to do. */
    private void markWorkBegins() {
        if (!hasWork()) {
            lastProgress = shared.loop().now();
        }
    }

    boolean isStuck(long now, long timeoutNanos) {
        return hasWork() && now - lastProgress > timeoutNanos;
    }

    /** Ends everything: each request is completed, and nothing touches memory any more. */
    void close() {
        if (state == State.CLOSED) {
            return;
        }
        state = State.CLOSED;
        shared.loop().disarm(flushCheck);
        shared.loop().disarm(connectAgain);
        destroyQueuePair();
        Object culprit = refused;
        refused = null;
        while (!places.isEmpty()) {
            if (places.removeFirst() instanceof WorkRequest request) {
                complete(request, request == culprit ? refusedStatus : CompletionStatus.FLUSHED);
            }
        }
        AwaitedAnswer sent;
        while ((sent = awaited.poll()) != null) {
            complete(sent.request(), sent.isAnswered() ? sent.status() : CompletionStatus.FLUSHED);
        }
        for (Message message : messages.takeWaiting()) {
            AwaitedAnswer request = message.awaited();
            if (request != null && !message.isEnrolled()) {
                complete(request.request(), CompletionStatus.FLUSHED_UNSENT);
            }
        }
        visibilityDue.clear();
        group.leave(slot);
        shared.left(group);
    }
}
