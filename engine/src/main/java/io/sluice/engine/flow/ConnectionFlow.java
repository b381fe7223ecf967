package io.sluice.engine.flow;

import io.sluice.engine.Connection;
import io.sluice.engine.EngineMetrics;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.RegionClosedException;
import io.sluice.engine.RemoteAccessException;
import io.sluice.engine.RemoteAccessException.Reason;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TooManyPendingException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.VectoredTransferCallback;
import io.sluice.engine.progress.PollerCounters;
import io.sluice.engine.transport.Capabilities;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.Endpoint;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
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
    private final NotificationSender notificationSender;

    // any thread
    private final MpscUnboundedAtomicArrayQueue<FlowTransfer> mailbox = new MpscUnboundedAtomicArrayQueue<>(256);
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
    private @Nullable FlowTransfer firstWaiting;
    private @Nullable FlowTransfer lastWaiting;
    private boolean awaitingEngine;
    private boolean engineExhausted;
    private boolean pumping;
    private boolean pumpAgain;
    private int unquietTransfers;
    private final ArrayDeque<FlowTransfer> unquietInOrder = new ArrayDeque<>();
    private final List<Chunk> chunks = new ArrayList<>();
    private final List<CompletableFuture<Void>> quiescenceAwaited = new ArrayList<>();
    private final ArrayDeque<WriteGroup> groups = new ArrayDeque<>();
    private WriteGroup openGroup = new WriteGroup();
    private final ArrayDeque<NotifyTransfer> unacknowledged = new ArrayDeque<>();
    private final int initialNotificationCredits;
    private int notificationCredits;

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
        this.notificationSender = notificationSender;
        this.initialNotificationCredits = notificationCredits;
        this.notificationCredits = notificationCredits;
        groups.add(openGroup);
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
     * Submits a transfer of one element, which has been checked.
     *
     * @param operation read or write
     * @param local the local region
     * @param localOffset from its start
     * @param remote the remote region
     * @param remoteOffset from its start
     * @param length bytes
     * @param options deadline and the like
     * @param callback the terminal signal
     * @return the handle
     */
    public Transfer submit(
            WorkRequest.Operation operation,
            LeasedMemory local,
            long localOffset,
            RemoteKey remote,
            long remoteOffset,
            long length,
            TransferOptions options,
            TransferCallback callback) {
        reserve();
        return accept(new SingleTransfer(
                this, operation, local, localOffset, remote, remoteOffset, length, options, callback));
    }

    /**
     * Submits a transfer of many elements, which have been checked.
     *
     * @param operation read or write
     * @param plan the elements; not changed any more
     * @param options deadline and the like
     * @param callback results and terminal signal
     * @return the handle
     */
    public Transfer submit(
            WorkRequest.Operation operation,
            ElementPlan[] plan,
            TransferOptions options,
            VectoredTransferCallback callback) {
        reserve();
        return accept(new VectoredTransfer(this, operation, plan, options, callback));
    }

    /**
     * Submits a notification.
     *
     * @param payload not changed any more
     * @param options deadline and the like
     * @param callback the terminal signal
     * @return the handle
     */
    public Transfer submitNotification(byte[] payload, TransferOptions options, TransferCallback callback) {
        reserve();
        return accept(new NotifyTransfer(this, payload, options, callback));
    }

    /**
     * When no ended transfer has anything posted.
     *
     * @return completes on the loop's thread
     */
    public CompletableFuture<Void> quiesced() {
        CompletableFuture<Void> future = new CompletableFuture<>();
        loop.execute(() -> awaitQuiescence(future));
        return future;
    }

    private void awaitQuiescence(CompletableFuture<Void> future) {
        // cancels that were asked for before the call count as ended, however deep they are in the mailbox
        if (drainMailbox()) {
            loop.execute(() -> awaitQuiescence(future));
        } else if (unquietTransfers == 0) {
            future.complete(null);
        } else {
            quiescenceAwaited.add(future);
        }
        schedule();
    }

    void handOver(FlowTransfer transfer) {
        mailbox.offer(transfer);
        schedule();
    }

    /** The engine has credits, and it is this flow's turn. */
    void engineCreditsReturned() {
        schedule();
    }

    private void reserve() {
        ConnectionEnd ended = end;
        if (ended != null) {
            throw ended.error();
        }
        if (pending.incrementAndGet() > maxPending) {
            pending.decrementAndGet();
            throw new TooManyPendingException(maxPending + " transfers are pending on this connection, the most that"
                    + " maxPending allows; wait for some to end, or raise it");
        }
    }

    private FlowTransfer accept(FlowTransfer transfer) {
        handOver(transfer);
        return transfer;
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
            FlowTransfer transfer = mailbox.relaxedPoll();
            if (transfer == null) {
                // an offer under way has its place but is not visible yet, and whoever made it may have seen this run
                // still scheduled: only the indices tell that the mailbox is empty
                return !mailbox.isEmpty();
            }
            if (transfer.admit()) {
                admit(transfer);
            }
            if (transfer.isCancelRequested()) {
                endEarly(transfer, new TransferCancelledException("the transfer was cancelled"));
            }
        }
        return true;
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
        if (transfer instanceof DataTransfer data) {
            if (data.operation() == WorkRequest.Operation.WRITE) {
                data.group(openGroup);
                openGroup.enter();
            }
            append(data);
        } else if (transfer instanceof NotifyTransfer notification) {
            notification.queued();
            openGroup.closeWith(notification);
            openGroup = new WriteGroup();
            groups.add(openGroup);
            sendReadyNotifications();
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
        while (firstWaiting instanceof DataTransfer transfer) {
            if (!addChunk(transfer)) {
                break;
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
        long length = transfer.length(element);
        long bytes = Math.min(length - transfer.position(), chunker.chunk(length));
        if (!acquireBytes(bytes)) {
            return false;
        }
        LeasedMemory memory = transfer.local(element);
        if (!memory.acquire()) {
            window.releaseBytes(bytes);
            operation.fail(new RegionClosedException("the local region is closed, or its memory was freed"));
            finishPosting(transfer, operation);
            return true;
        }
        Chunk pooled = freeChunks.pollFirst();
        Chunk chunk = pooled == null ? newChunk() : pooled;
        chunk.prepare(
                operation,
                transfer.operation(),
                memory,
                transfer.localOffset(element) + transfer.position(),
                bytes,
                transfer.remote(element),
                transfer.remoteOffset(element) + transfer.position());
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
        if (transfer.isFullyPosted()) {
            remove(transfer);
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
        ElementOperation operation = chunk.retire();
        freeChunks.addFirst(chunk);
        window.releaseBytes(bytes);
        operation.chunkDone();
        DataTransfer transfer = operation.transfer();
        if (status != CompletionStatus.SUCCESS) {
            operation.fail(error(transfer, status));
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
        if (firstWaiting != null) {
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
        operation.retire();
        freeOperations.addFirst(operation);
        window.releaseOperation();
        transfer.operationDone();
        if (transfer.isTerminated()) {
            if (transfer.isQuiet()) {
                unquietTransfers--;
                quiet(transfer);
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
        if (transfer.isTerminated()) {
            return;
        }
        remove(transfer);
        ElementOperation begun = transfer instanceof DataTransfer data ? data.current() : null;
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
            sendReadyNotifications();
        }
        pumpLater();
    }

    private void terminate(FlowTransfer transfer, @Nullable SluiceException error) {
        loop.disarm(transfer);
        if (!(transfer instanceof NotifyTransfer notification && notification.keepsItsPlace())) {
            pending.decrementAndGet();
        }
        boolean quiet = transfer.isQuiet();
        if (!quiet) {
            unquietTransfers++;
            transfer.unquietSince = loop.now();
            unquietInOrder.addLast(transfer);
        }
        try {
            transfer.signal(error);
        } catch (Throwable e) {
            LOG.error("a transfer's callback has thrown", e);
        }
        if (quiet) {
            quiet(transfer);
        }
    }

    private void quiet(FlowTransfer transfer) {
        transfer.becomeQuiet();
        if (transfer instanceof DataTransfer data) {
            WriteGroup group = data.group();
            if (group != null) {
                data.group(null);
                group.leave();
                if (group.isEmpty()) {
                    sendReadyNotifications();
                }
            }
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
        while ((oldest = unquietInOrder.peekFirst()) != null && oldest.isQuiet()) {
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
            List<CompletableFuture<Void>> awaited = List.copyOf(quiescenceAwaited);
            quiescenceAwaited.clear();
            awaited.forEach(future -> future.complete(null));
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
        if (count > initialNotificationCredits - notificationCredits - unacknowledged.size()) {
            return false;
        }
        notificationCredits += count;
        sendReadyNotifications();
        return true;
    }

    /** The control channel has room again. */
    public void notificationsSendable() {
        sendReadyNotifications();
    }

    /**
     * Whether the peer leaves a notification unacknowledged.
     *
     * @param now the loop's time
     * @param timeoutNanos how long is too long
     * @return true if the oldest has waited longer
     */
    public boolean isAcknowledgementOverdue(long now, long timeoutNanos) {
        NotifyTransfer oldest = unacknowledged.peekFirst();
        return oldest != null && now - oldest.sentAt() > timeoutNanos;
    }

    /**
     * The peer's engine holds some.
     *
     * @param count how many more
     * @return false if more than were sent
     */
    public boolean notificationsAcknowledged(int count) {
        for (int i = 0; i < count; i++) {
            NotifyTransfer transfer = unacknowledged.pollFirst();
            if (transfer == null) {
                return false;
            }
            if (!transfer.isTerminated()) {
                count(EngineMetrics.Operation.NOTIFY, null, transfer.length());
                terminate(transfer, null);
            }
        }
        return true;
    }

    private void sendReadyNotifications() {
        if (end != null) {
            return;
        }
        WriteGroup group;
        while ((group = groups.peekFirst()) != null && group.isEmpty()) {
            NotifyTransfer notification = group.notification();
            if (notification == null) {
                return;
            }
            if (notification.isTerminated()) {
                pending.decrementAndGet();
            } else {
                if (notificationCredits == 0 || !notificationSender.hasRoom()) {
                    return;
                }
                notificationCredits--;
                unacknowledged.addLast(notification);
                notificationSender.send(notification.takePayload(loop.now()));
            }
            groups.removeFirst();
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
        FlowTransfer transfer;
        while ((transfer = firstWaiting) != null) {
            endEarly(transfer, why.error());
        }
        for (WriteGroup group : List.copyOf(groups)) {
            NotifyTransfer notification = group.notification();
            if (notification != null) {
                endEarly(notification, why.error());
                pending.decrementAndGet();
            }
        }
        groups.clear();
        groups.add(openGroup);
        while ((transfer = unacknowledged.pollFirst()) != null) {
            endEarly(transfer, why.notificationUnknown());
        }
        if (awaitingEngine) {
            leaveEngineQueue();
        }
        // handed over while this ran, or never looked at yet
        while (drainMailbox()) {
            LOG.debug("ending the transfers of a connection that has ended");
        }
    }

    void count(EngineMetrics.Operation operation, @Nullable SluiceException error, long bytes) {
        FlowCounters.count(counters, operation, error, bytes);
    }

    void call(Runnable callback) {
        try {
            callback.run();
        } catch (Throwable e) {
            LOG.error("a transfer's callback has thrown", e);
        }
    }

    private SluiceException error(DataTransfer transfer, CompletionStatus status) {
        ConnectionEnd why = end;
        return switch (status) {
            case UNKNOWN_REGION ->
                new RemoteAccessException(
                        Reason.UNKNOWN_REGION, "the peer has closed the region, or it is not attached any more");
            case BAD_KEY -> new RemoteAccessException(Reason.BAD_KEY, "the peer does not accept the region's key");
            case STALE_EPOCH ->
                new RemoteAccessException(Reason.STALE_EPOCH, "the peer's engine has been restarted; attach again");
            case OUT_OF_BOUNDS -> new RemoteAccessException(Reason.OUT_OF_BOUNDS, "the range leaves the peer's region");
            case ACCESS_DENIED ->
                new RemoteAccessException(
                        Reason.ACCESS_DENIED,
                        "the peer's region may not be "
                                + (transfer.operation() == WorkRequest.Operation.WRITE ? "written" : "read"));
            case REMOTE_MEMORY_FAULT ->
                new RemoteAccessException(Reason.MEMORY_FAULT, "the peer's memory was freed while it was registered");
            case LOCAL_MEMORY_FAULT -> new RegionClosedException("the local memory was freed while it was registered");
            case FLUSHED, FLUSHED_UNSENT, SUCCESS -> {
                ConnectionEnd reason =
                        why == null ? new ConnectionEnd(ConnectionEnd.Kind.LOST, "the connection was lost", null) : why;
                yield status == CompletionStatus.FLUSHED && transfer.operation() == WorkRequest.Operation.WRITE
                        ? reason.outcomeUnknown()
                        : reason.error();
            }
        };
    }

    // ---- the list of waiting transfers ----

    private void append(FlowTransfer transfer) {
        transfer.waiting = true;
        transfer.previous = lastWaiting;
        if (lastWaiting == null) {
            firstWaiting = transfer;
        } else {
            lastWaiting.next = transfer;
        }
        lastWaiting = transfer;
    }

    private void remove(FlowTransfer transfer) {
        if (!transfer.waiting) {
            return;
        }
        transfer.waiting = false;
        FlowTransfer before = transfer.previous;
        FlowTransfer after = transfer.next;
        if (before == null) {
            firstWaiting = after;
        } else {
            before.next = after;
        }
        if (after == null) {
            lastWaiting = before;
        } else {
            after.previous = before;
        }
        transfer.previous = null;
        transfer.next = null;
    }
}
