package io.sluice.engine.flow;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineMetrics;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEventException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.progress.PollerCounters;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.WorkRequest;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jctools.queues.atomic.MpscUnboundedAtomicArrayQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The way of a connection's transfers: mailbox, window, chunks, endpoint, completion, terminal signal. Threads hand transfers
 * over through the mailbox; all the rest happens on the connection's poller, so that no state needs a lock and a callback
 * that starts another transfer never deepens the stack.
 */
public final class ConnectionFlow {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionFlow.class);
    private static final int BATCH = 64;
    private static final int MAX_HANDED_OVER_A_RUN = 4096;

    private final Connection connection;
    private final EventLoop loop;
    private final PollerCounters counters;
    private final EngineWindow engineWindow;
    private final ConnectionWindow window;
    private final Chunker chunker;
    private final int maxPending;
    private final Endpoint endpoint;
    private final boolean canCarrySignals;

    // any thread
    private final MpscUnboundedAtomicArrayQueue<Mail> mailbox = new MpscUnboundedAtomicArrayQueue<>(256);
    private final AtomicInteger pending = new AtomicInteger();
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private final Runnable run = this::run;
    private volatile @Nullable ConnectionEnd end;

    // the poller's
    private final ArrayDeque<Chunk> freeChunks = new ArrayDeque<>();
    private final ArrayDeque<ElementOperation> freeOperations = new ArrayDeque<>();
    private final WorkRequest[] batch = new WorkRequest[BATCH];
    private int batchFrom;
    private int batchTo;
    private final WaitingTransfers waiting;
    private boolean awaitingEngine;
    private boolean engineExhausted;
    private boolean pumping;
    private boolean pumpAgain;
    private int unquietTransfers;
    private final ArrayDeque<FlowTransfer> unquietInOrder = new ArrayDeque<>();
    private final List<Chunk> chunks = new ArrayList<>();
    private final List<Inquiry> quiescenceAwaited = new ArrayList<>();
    private final WriteGroups groups = new WriteGroups();
    private final NotificationQueue notifications;
    // submitted, but waiting for the event that they start after
    private final Set<DataTransfer> awaitingEvent = Collections.newSetFromMap(new IdentityHashMap<>());

    /**
     * Makes the flow of an established connection.
     *
     * @param connection whose
     * @param loop the connection's
     * @param counters the poller's
     * @param options the engine's
     * @param engineWindow the engine's
     * @param capabilities the transport's
     * @param endpoint where to post
     * @param notificationSender where to send
     * @param notificationCredits what the peer granted to begin with
     */
    public ConnectionFlow(
            Connection connection,
            EventLoop loop,
            PollerCounters counters,
            EngineOptions options,
            EngineWindow engineWindow,
            Capabilities capabilities,
            Endpoint endpoint,
            NotificationSender notificationSender,
            int notificationCredits) {
        this.connection = connection;
        this.loop = loop;
        this.counters = counters;
        this.engineWindow = engineWindow;
        this.window = new ConnectionWindow(options.windowOperations(), options.windowBytes(), engineWindow);
        this.chunker = new Chunker(
                Math.min(options.windowBytes(), options.engineWindowBytes()), capabilities.largestMessage());
        this.maxPending = options.maxPending();
        this.endpoint = endpoint;
        this.canCarrySignals = capabilities.writeWithSignal();
        this.waiting = new WaitingTransfers(options.priorityAging());
        this.notifications = new NotificationQueue(notificationSender, notificationCredits);
    }

    /**
     * Whose flow it is.
     *
     * @return the connection
     */
    public Connection connection() {
        return connection;
    }

    /**
     * The credits.
     *
     * @return live figures, for any thread
     */
    public InFlightWindow window() {
        return window;
    }

    /**
     * Transfers that have not ended.
     *
     * @return the count, for any thread
     */
    public int pending() {
        return pending.get();
    }

    // ---- any thread ----

    /**
     * Submits a notification.
     *
     * @param payload not changed any more
     * @param options deadline and the like
     * @param callback the terminal signal
     * @return the handle
     */
    public Transfer submitNotification(byte[] payload, TransferOptions options, TransferCallback callback) {
        NotifyTransfer notification = new NotifyTransfer(this, payload, options, callback);
        if (!notification.hold()) {
            throw new IllegalStateException("a new notification is idle");
        }
        submitHeld(notification);
        return notification;
    }

    /**
     * When nothing that has ended until now has anything posted; cancels that were asked for until now count as ended.
     *
     * @return completes on the loop's thread
     */
    public CompletableFuture<Void> quiesced() {
        return ask(Inquiry.Subject.QUIESCENCE);
    }

    /**
     * When the sources of what was submitted until now can be reused.
     *
     * @return completes on the loop's thread
     */
    public CompletableFuture<Void> flush() {
        return ask(Inquiry.Subject.FLUSH);
    }

    /**
     * When what was written until now is visible at the target.
     *
     * @return completes on the loop's thread; fails if the connection ends before
     */
    public CompletableFuture<Void> quiet() {
        return ask(Inquiry.Subject.QUIET);
    }

    private CompletableFuture<Void> ask(Inquiry.Subject subject) {
        Inquiry inquiry = new Inquiry(subject);
        mailbox.offer(inquiry);
        schedule();
        return inquiry.copy();
    }

    /** Submits a transfer that the calling thread holds. */
    void submitHeld(FlowTransfer transfer) {
        ConnectionEnd ended = end;
        if (ended != null) {
            transfer.letGo();
            throw ended.error();
        }
        if (pending.incrementAndGet() > maxPending) {
            pending.decrementAndGet();
            transfer.letGo();
            throw new TooManyPendingException(maxPending + " transfers are pending on this connection, the most that"
                    + " maxPending allows; wait for some to end, or raise it");
        }
        transfer.begin();
    }

    void handOver(FlowTransfer transfer) {
        mailbox.offer(transfer);
        schedule();
    }

    /** The engine has credits, and it is this flow's turn. */
    void engineCreditsReturned() {
        schedule();
    }

    private void schedule() {
        if (!scheduled.get() && scheduled.compareAndSet(false, true)) {
            loop.execute(run);
        }
    }

    // ---- the poller ----

    private void run() {
        scheduled.set(false);
        if (drainMailbox()) {
            schedule();
        }
        pump();
    }

    /** Its turn would hold the others up for nothing. */
    private void leaveEngineQueue() {
        awaitingEngine = false;
        engineWindow.leave(this);
    }

    /** True if some were left, so that one busy connection does not hold up the poller. */
    private boolean drainMailbox() {
        for (int i = 0; i < MAX_HANDED_OVER_A_RUN; i++) {
            Mail mail = mailbox.relaxedPoll();
            if (mail == null) {
                // an offer under way has its place but is not visible yet, and whoever made it may have seen this run
                // still scheduled: only the indices tell that the mailbox is empty
                return !mailbox.isEmpty();
            }
            switch (mail) {
                case FlowTransfer transfer -> read(transfer);
                case Inquiry inquiry -> answer(inquiry);
            }
        }
        return true;
    }

    private void read(FlowTransfer transfer) {
        int mail = transfer.takeMail();
        if ((mail & TransferState.RUNNING) == 0) {
            return;
        }
        if ((mail & TransferState.SUBMITTED) != 0) {
            admit(transfer);
        } else if (transfer instanceof DataTransfer data && awaitingEvent.contains(data)) {
            startAfterEvent(data);
        }
        if ((mail & TransferState.CANCELLED) != 0) {
            endEarly(transfer, new TransferCancelledException("the transfer was cancelled"));
        }
    }

    private void admit(FlowTransfer transfer) {
        ConnectionEnd ended = end;
        if (ended != null) {
            endEarly(transfer, ended.error());
            return;
        }
        Duration deadline = transfer.options.deadline();
        if (deadline != null) {
            loop.arm(transfer, transfer.deadlineAt(deadline));
        }
        switch (transfer) {
            case DataTransfer data -> admitData(data);
            case NotifyTransfer notification -> {
                notification.queued();
                groups.close(notification);
                groups.release();
            }
        }
    }

    private void admitData(DataTransfer data) {
        boolean awaitsEvent = data.mustAwaitEvent();
        if (awaitsEvent) {
            awaitingEvent.add(data);
        }
        if (data.changesRemote()) {
            data.enter(groups);
            groups.release();
        }
        if (awaitsEvent) {
            return;
        }
        if (data.eventError() != null) {
            failToStart(data);
        } else if (!isBlocked(data)) {
            waitForTurn(data);
        }
    }

    private void startAfterEvent(DataTransfer data) {
        if (data.mustAwaitEvent()) {
            return; // it was a cancel
        }
        awaitingEvent.remove(data);
        if (data.eventError() != null) {
            failToStart(data);
        } else if (!isBlocked(data)) {
            waitForTurn(data);
        }
    }

    private void failToStart(DataTransfer data) {
        endEarly(
                data,
                new StartEventException(
                        "the event that the transfer was to start after has failed", data.eventError()));
    }

    private static boolean isBlocked(DataTransfer data) {
        return data instanceof SignallingTransfer signalling && signalling.isBlocked();
    }

    private void waitForTurn(DataTransfer data) {
        if (!data.waiting) {
            waiting.append(data);
        }
    }

    /** What a signal had to wait for is done. */
    void unblocked(SignallingTransfer transfer) {
        if (!transfer.isBlocked() && !awaitingEvent.contains(transfer)) {
            waitForTurn(transfer);
            schedule();
        }
    }

    /** The bytes before a signal are in place. */
    void bytesDone(SignallingTransfer transfer) {
        WriteGroup group = transfer.takeBytesGroup();
        if (group != null) {
            groups.leave(group);
        }
        unblocked(transfer);
    }

    private void answer(Inquiry inquiry) {
        switch (inquiry.subject()) {
            case QUIESCENCE -> {
                if (unquietTransfers == 0) {
                    inquiry.complete(null);
                } else {
                    quiescenceAwaited.add(inquiry);
                }
            }
            case FLUSH -> {
                groups.close(inquiry);
                groups.release();
            }
            case QUIET -> {
                ConnectionEnd ended = end;
                if (ended != null) {
                    inquiry.completeExceptionally(ended.error());
                } else {
                    groups.close(inquiry);
                    groups.release();
                }
            }
        }
    }

    /** Posts what credits and endpoint allow. */
    private void pump() {
        if (pumping) {
            pumpAgain = true;
            return;
        }
        pumping = true;
        try {
            do {
                pumpAgain = false;
                engineExhausted = false;
                fillAndPost();
            } while (pumpAgain);
        } finally {
            pumping = false;
        }
        if (awaitingEngine && !engineExhausted) {
            leaveEngineQueue();
        }
    }

    private void fillAndPost() {
        if (!post()) {
            return;
        }
        DataTransfer transfer;
        while ((transfer = waiting.next()) != null) {
            if (!addChunk(transfer)) {
                // the credit it lacks may be held by one that it has overtaken half-way
                DataTransfer begun = transfer.current() == null ? waiting.nextBegun() : null;
                if (begun == null || !addChunk(begun)) {
                    break;
                }
            }
            if (batchTo == BATCH && !post()) {
                return;
            }
        }
        post();
    }

    /** Adds the next chunk of a transfer to the batch; false if a credit is lacking. */
    private boolean addChunk(DataTransfer transfer) {
        ElementOperation operation = transfer.current();
        int element = transfer.nextElement();
        if (operation == null) {
            if (!acquireOperation()) {
                return false;
            }
            ElementOperation pooled = freeOperations.pollFirst();
            operation = pooled == null ? new ElementOperation() : pooled;
            operation.begin(transfer, element);
            transfer.beginElement(operation);
        }
        long position = transfer.position();
        long length = transfer.length(element);
        long bytes = Math.min(length - position, chunker.chunk(length));
        if (!acquireBytes(bytes)) {
            return false;
        }
        LeasedMemory memory = transfer.local(element);
        if (memory != null && !memory.acquire()) {
            window.releaseBytes(bytes);
            operation.fail(new RegionClosedException("the local region is closed, or its memory was freed"));
            finishPosting(transfer, operation);
            return true;
        }
        Chunk pooled = freeChunks.pollFirst();
        Chunk chunk = pooled == null ? newChunk() : pooled;
        if (memory == null) {
            chunk.prepareWord(
                    operation,
                    transfer.operation(element),
                    transfer.remote(element),
                    transfer.remoteOffset(element),
                    bytes,
                    transfer.operand(element),
                    transfer.expected(element));
        } else {
            chunk.prepare(
                    operation,
                    transfer.operation(element),
                    memory,
                    transfer.localOffset(element) + position,
                    bytes,
                    transfer.remote(element),
                    transfer.remoteOffset(element) + position);
            if (canCarrySignals
                    && bytes == length
                    && transfer instanceof SignallingTransfer signalling
                    && signalling.canCarry(groups)) {
                signalling.carry(chunk);
            }
        }
        operation.chunkPosted();
        batch[batchTo++] = chunk;
        transfer.advance(bytes);
        if (transfer.position() == length) {
            finishPosting(transfer, operation);
        }
        return true;
    }

    private Chunk newChunk() {
        Chunk chunk = new Chunk();
        chunks.add(chunk);
        return chunk;
    }

    private boolean acquireOperation() {
        ConnectionWindow.Grant grant = window.tryAcquireOperation(this);
        if (grant == ConnectionWindow.Grant.ENGINE_EXHAUSTED && queueForEngine()) {
            grant = window.tryAcquireOperation(this);
        }
        return taken(grant);
    }

    /** True if it has just joined the queue: a credit may have come back between the refusal and this. */
    private boolean queueForEngine() {
        if (awaitingEngine) {
            return false;
        }
        awaitingEngine = true;
        engineWindow.await(this);
        return true;
    }

    private boolean taken(ConnectionWindow.Grant grant) {
        engineExhausted = grant == ConnectionWindow.Grant.ENGINE_EXHAUSTED;
        if (awaitingEngine && !engineExhausted) {
            // one credit a turn: who wants more queues again
            leaveEngineQueue();
        }
        return grant == ConnectionWindow.Grant.GRANTED;
    }

    private boolean acquireBytes(long bytes) {
        ConnectionWindow.Grant grant = window.tryAcquireBytes(this, bytes);
        if (grant == ConnectionWindow.Grant.ENGINE_EXHAUSTED && queueForEngine()) {
            grant = window.tryAcquireBytes(this, bytes);
        }
        return taken(grant);
    }

    /** Offers the batch; false if the endpoint left some of it. */
    private boolean post() {
        while (batchFrom < batchTo) {
            int accepted = endpoint.post(batch, batchFrom, batchTo - batchFrom);
            batchFrom += accepted;
            if (accepted == 0) {
                return false;
            }
        }
        batchFrom = 0;
        batchTo = 0;
        return true;
    }

    private void finishPosting(DataTransfer transfer, ElementOperation operation) {
        transfer.finishPosting();
        operation.allPosted();
        if (transfer.isFullyPosted() || isBlocked(transfer)) {
            waiting.remove(transfer);
        }
        if (operation.isDone()) {
            finish(operation);
        }
    }

    /**
     * A work request has ended.
     *
     * @param request posted by this flow
     * @param status how
     */
    public void completed(WorkRequest request, CompletionStatus status) {
        Chunk chunk = (Chunk) request;
        long bytes = chunk.length();
        WorkRequest.Operation kind = chunk.operation();
        long fetched = chunk.fetched();
        ElementOperation operation = chunk.retire();
        freeChunks.addFirst(chunk);
        window.releaseBytes(bytes);
        operation.chunkDone();
        DataTransfer transfer = operation.transfer();
        if (status == CompletionStatus.SUCCESS) {
            operation.reachedPeer();
            if (kind.isFetching()) {
                transfer.fetched(fetched);
            }
        } else {
            switch (status) {
                case FLUSHED -> {
                    operation.reachedPeer();
                    operation.cutOff();
                }
                case FLUSHED_UNSENT -> operation.cutOff();
                default -> operation.fail(TransferErrors.refused(status, kind));
            }
            if (transfer.current() == operation) {
                finishPosting(transfer, operation);
                pumpLater();
                return;
            }
        }
        if (operation.isDone()) {
            finish(operation);
        }
        pumpLater();
    }

    /** Several completions in one duty cycle are followed by one pump. */
    private void pumpLater() {
        if (!waiting.isEmpty()) {
            schedule();
        }
    }

    /** The endpoint has room again. */
    public void postable() {
        pump();
    }

    private void finish(ElementOperation operation) {
        DataTransfer transfer = operation.transfer();
        int element = operation.index();
        SluiceException error = operation.error();
        if (error == null && operation.isCutOff()) {
            error = TransferErrors.cutOff(
                    operation.hasReachedPeer() && transfer.operation(element).changesRemote(), end);
        }
        operation.retire();
        freeOperations.addFirst(operation);
        window.releaseOperation();
        transfer.operationDone();
        if (transfer.hasEnded()) {
            if (transfer.isQuiet()) {
                unquietTransfers--;
                CompletableFuture<Void> waitedFor = transfer.takeQuiescence();
                leaveGroups(transfer);
                transfer.rest();
                if (waitedFor != null) {
                    waitedFor.complete(null);
                }
                groups.release();
                releaseQuiescenceAwaited();
            }
            return;
        }
        if (transfer.elementEnded(element, error)) {
            terminate(transfer, transfer.outcome());
        }
    }

    /**
     * Ends a transfer before its time; does nothing if it has ended.
     *
     * @param transfer which
     * @param error the terminal signal
     */
    void endEarly(FlowTransfer transfer, SluiceException error) {
        if (transfer.hasEnded()) {
            return;
        }
        ElementOperation begun = null;
        if (transfer instanceof DataTransfer data) {
            waiting.remove(data);
            awaitingEvent.remove(data);
            begun = data.current();
        }
        // a cancel is answered by silence, element by element; its terminal signal is the engine's own bookkeeping
        transfer.endUnfinished(error, !(error instanceof TransferCancelledException));
        terminate(transfer, error);
        if (begun != null) {
            begun.allPosted();
            if (begun.isDone()) {
                finish(begun);
            }
        }
        if (transfer instanceof NotifyTransfer) {
            sendNotifications();
        }
        pumpLater();
    }

    private void terminate(FlowTransfer transfer, @Nullable SluiceException error) {
        loop.disarm(transfer);
        if (!(transfer instanceof NotifyTransfer notification && notification.keepsItsPlace())) {
            pending.decrementAndGet();
        }
        if (!transfer.isQuiet()) {
            unquietTransfers++;
            transfer.unquietSince = loop.now();
            unquietInOrder.addLast(transfer);
            transfer.endRun(false);
            transfer.signal(error);
            return;
        }
        CompletableFuture<Void> waitedFor = transfer.takeQuiescence();
        leaveGroups(transfer);
        // from here on it may be started again, also by its own callback
        transfer.endRun(true);
        transfer.signal(error);
        if (waitedFor != null) {
            waitedFor.complete(null);
        }
        groups.release();
    }

    /** What comes after it need not wait for it any more. {@code groups.release()} must follow. */
    private static void leaveGroups(FlowTransfer transfer) {
        if (!(transfer instanceof DataTransfer data)) {
            return;
        }
        WriteGroup group = data.takeGroup();
        if (group != null) {
            group.leave();
        }
        if (data instanceof SignallingTransfer signalling) {
            WriteGroup bytes = signalling.takeBytesGroup();
            if (bytes != null) {
                bytes.leave();
            }
            signalling.stopFollowing();
        }
    }

    /**
     * Whether a transfer that has ended long ago still has something posted.
     *
     * @param now the loop's time
     * @param timeoutNanos how long is too long
     * @return true if the endpoint has to be closed to end it
     */
    public boolean isQuiescenceOverdue(long now, long timeoutNanos) {
        FlowTransfer oldest;
        while ((oldest = unquietInOrder.peekFirst()) != null && (oldest.isQuiet() || !oldest.hasEnded())) {
            unquietInOrder.removeFirst();
        }
        return oldest != null && now - oldest.unquietSince > timeoutNanos;
    }

    /**
     * Whether something posted here holds a lease.
     *
     * @param memory on what
     * @return true if a chunk has not ended
     */
    public boolean isPostedOn(LeasedMemory memory) {
        return chunks.stream().anyMatch(chunk -> chunk.holds(memory));
    }

    private void releaseQuiescenceAwaited() {
        if (unquietTransfers == 0 && !quiescenceAwaited.isEmpty()) {
            List<Inquiry> awaited = List.copyOf(quiescenceAwaited);
            quiescenceAwaited.clear();
            awaited.forEach(inquiry -> inquiry.complete(null));
        }
    }

    // ---- notifications ----

    /**
     * The peer consumed some.
     *
     * @param count how many more it will take
     * @return false if that is more than it granted to begin with
     */
    public boolean grantNotifications(int count) {
        boolean granted = notifications.grant(count);
        sendNotifications();
        return granted;
    }

    /** The control channel has room again. */
    public void notificationsSendable() {
        sendNotifications();
    }

    /**
     * Whether the peer leaves a notification unacknowledged.
     *
     * @param now the loop's time
     * @param timeoutNanos how long is too long
     * @return true if the oldest has waited longer
     */
    public boolean isAcknowledgementOverdue(long now, long timeoutNanos) {
        return notifications.isAcknowledgementOverdue(now, timeoutNanos);
    }

    /**
     * The peer's engine holds some.
     *
     * @param count how many more
     * @return false if more than were sent
     */
    public boolean notificationsAcknowledged(int count) {
        for (int i = 0; i < count; i++) {
            NotifyTransfer transfer = notifications.acknowledgeNext();
            if (transfer == null) {
                return false;
            }
            if (!transfer.hasEnded()) {
                count(EngineMetrics.Operation.NOTIFY, null, transfer.length());
                terminate(transfer, null);
            }
        }
        return true;
    }

    /** What was written before a notification is in place. */
    void notificationReached(NotifyTransfer notification) {
        notifications.add(notification);
        sendNotifications();
    }

    private void sendNotifications() {
        if (end != null) {
            return;
        }
        NotifyTransfer next;
        while ((next = notifications.next()) != null) {
            if (next.hasEnded()) {
                notifications.skip();
                pending.decrementAndGet();
            } else if (notifications.canSend()) {
                notifications.send(loop.now());
            } else {
                return;
            }
        }
    }

    // ---- the end ----

    /**
     * The connection has ended: everything that is not posted ends now. What is posted, the closed endpoint completes.
     *
     * @param why the reason
     */
    public void stop(ConnectionEnd why) {
        if (end == null) {
            end = why;
        }
    }

    /** After the endpoint was closed: ends what it never had. */
    public void endAll() {
        ConnectionEnd why = end;
        if (why == null) {
            throw new IllegalStateException("the connection has not ended");
        }
        while (batchFrom < batchTo) {
            WorkRequest request = batch[batchFrom];
            batchFrom++;
            completed(request, CompletionStatus.FLUSHED_UNSENT);
        }
        batchFrom = 0;
        batchTo = 0;
        endData(why);
        endNotifications(why);
        // what was never posted has ended above, and what was posted the endpoint has completed
        groups.release();
        if (awaitingEngine) {
            leaveEngineQueue();
        }
        // handed over while this ran, or never looked at yet
        while (drainMailbox()) {
            LOG.debug("ending the transfers of a connection that has ended");
        }
    }

    private void endData(ConnectionEnd why) {
        DataTransfer transfer;
        while ((transfer = waiting.next()) != null) {
            ElementOperation begun = transfer.current();
            if (begun != null) {
                begun.cutOff();
                finishPosting(transfer, begun);
            } else {
                endEarly(transfer, transfer.neverFinished(why));
            }
        }
        for (DataTransfer waitingForEvent : List.copyOf(awaitingEvent)) {
            endEarly(waitingForEvent, why.error());
        }
        // signals that wait for what came before them
        for (WriteGroup.Follower follower : groups.followers()) {
            if (follower instanceof SignallingTransfer signalling) {
                endEarly(signalling, signalling.neverFinished(why));
            }
        }
    }

    private void endNotifications(ConnectionEnd why) {
        for (WriteGroup.Follower follower : groups.followers()) {
            if (follower instanceof NotifyTransfer waitingForWrites) {
                endUnsent(waitingForWrites, why);
            } else if (follower instanceof Inquiry inquiry && inquiry.subject() == Inquiry.Subject.QUIET) {
                inquiry.completeExceptionally(why.error());
            }
        }
        NotifyTransfer notification;
        while ((notification = notifications.takeUnsent()) != null) {
            endUnsent(notification, why);
        }
        while ((notification = notifications.acknowledgeNext()) != null) {
            endEarly(notification, why.notificationUnknown());
        }
    }

    /** Ends one that keeps its place among the pending ones while it waits for its turn. */
    private void endUnsent(NotifyTransfer notification, ConnectionEnd why) {
        endEarly(notification, why.error());
        pending.decrementAndGet();
    }

    void count(EngineMetrics.Operation operation, @Nullable SluiceException error, long bytes) {
        FlowCounters.count(counters, operation, error, bytes);
    }
}
