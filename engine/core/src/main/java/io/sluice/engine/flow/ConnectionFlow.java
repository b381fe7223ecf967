package io.sluice.engine.flow;

import io.sluice.engine.CompletionEvent;
import io.sluice.engine.Connection;
import io.sluice.engine.EngineOptions;
import io.sluice.engine.InFlightWindow;
import io.sluice.engine.MemoryKind;
import io.sluice.engine.SluiceException;
import io.sluice.engine.StartEvent;
import io.sluice.engine.StartEventException;
import io.sluice.engine.StreamCompletion;
import io.sluice.engine.StreamEvent;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.CompletionStatus;
import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.NotificationSender;
import io.sluice.engine.transport.StreamOrder;
import io.sluice.engine.transport.WorkRequest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The flow of a connection's transfers: mailbox, window, chunks, endpoint, completion, terminal signal. Threads hand
 * transfers over through the mailbox. Everything else happens on the connection's poller, so state needs no lock, and a
 * callback that starts another transfer never deepens the stack.
 */
public final class ConnectionFlow extends OwningFlow {
    private static final Logger LOG = LoggerFactory.getLogger(ConnectionFlow.class);
    private static final int MAX_HANDED_OVER_A_RUN = 4096;

    private final Connection connection;
    private final EventLoop loop;
    // by path; null if the endpoint has no {@code StreamOrder}
    private final @Nullable StreamOrder[] streamOrders;

    // any thread
    private final FlowMailbox mailbox;
    private final Submissions submissions;
    private final FlowFigures figures;

    // the poller's
    private final SendQueue queue;
    private final WriteGroups groups;
    private final Quiescence quiescence = new Quiescence();
    private final TransferEnds ends;
    private final Barriers barriers;
    private final NotificationQueue notifications;
    private final AwaitingTransfers awaiting;

    /**
     * Creates the flow of an established connection.
     *
     * @param connection the connection
     * @param loop the connection's loop
     * @param options the engine's options
     * @param engineWindow the engine's window
     * @param paths the paths to post to, by the {@linkplain io.sluice.engine.transport.RemoteKey#path() paths} of the
     *     remote keys; the most preferred first
     * @param notificationSender sends notifications
     * @param notificationCredits the credits that the peer granted initially
     */
    public ConnectionFlow(
            Connection connection,
            EventLoop loop,
            EngineOptions options,
            EngineWindow engineWindow,
            List<FlowPath> paths,
            NotificationSender notificationSender,
            int notificationCredits) {
        this.connection = connection;
        this.loop = loop;
        this.streamOrders = paths.stream()
                .map(path -> path.endpoint() instanceof StreamOrder ordered ? ordered : null)
                .toArray(StreamOrder[]::new);
        this.figures = new FlowFigures(connection, loop, paths, options);
        this.mailbox = new FlowMailbox(loop, this::run, options.maxPending());
        Visibility between = Visibility.between(paths);
        this.awaiting = new AwaitingTransfers(this, between);
        this.groups = new WriteGroups(between);
        this.ends = new TransferEnds(loop, mailbox, figures, groups, quiescence);
        this.barriers = new Barriers(Visibility.of(paths), groups, quiescence, ends);
        this.queue = new SendQueue(loop, ends, mailbox, options, engineWindow, paths, groups);
        this.submissions = new Submissions(mailbox, figures, paths, queue.window(), options.maxPending());
        this.notifications = new NotificationQueue(loop, mailbox, ends, notificationSender, notificationCredits);
    }

    /**
     * Returns the connection of this flow.
     *
     * @return the connection
     */
    @Override
    public Connection connection() {
        return connection;
    }

    /** Returns the chunker of a path and kind of memory. Called by any thread. */
    Chunker chunker(int path, MemoryKind kind) {
        return queue.chunker(path, kind);
    }

    /**
     * Returns the window.
     *
     * @return live figures, for any thread
     */
    public InFlightWindow window() {
        return queue.window();
    }

    /**
     * Called when the connection opens, before any submission: from now on it also updates its peer's counters.
     *
     * @param peer the peer's counters on this flow's poller
     * @param callerThread the peer's counters on the transport of each path
     */
    public void countInto(PeerTally peer, List<InlineCounters> callerThread) {
        figures.countInto(peer, callerThread);
    }

    /**
     * Returns how many notifications the peer accepts now.
     *
     * @return the count, for any thread
     */
    public int notificationCredits() {
        return notifications.credits();
    }

    /**
     * Returns how many notifications wait for credits or for earlier operations.
     *
     * @return the count, for any thread
     */
    public int notificationsWaiting() {
        return notifications.waiting();
    }

    /**
     * Returns how many transfers have not ended.
     *
     * @return the count, for any thread
     */
    public int pending() {
        return mailbox.pending();
    }

    // ---- any thread ----

    /**
     * Submits a notification.
     *
     * @param payload must not change any more
     * @param options deadline, priority and events
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
     * Waits until no transfer that has ended so far has anything posted; transfers with a cancel request so far count
     * as ended.
     *
     * @return completes on the loop's thread
     */
    public CompletableFuture<Void> quiesced() {
        return ask(MailboxBarrier.Subject.QUIESCENCE);
    }

    /**
     * Waits until the sources of all transfers submitted so far can be reused.
     *
     * @return completes on the loop's thread
     */
    public CompletableFuture<Void> flush() {
        return ask(MailboxBarrier.Subject.FLUSH);
    }

    /**
     * Waits until everything written so far is visible at the target.
     *
     * @return completes on the loop's thread; fails if the connection ends first
     */
    public CompletableFuture<Void> quiet() {
        return ask(MailboxBarrier.Subject.QUIET);
    }

    private CompletableFuture<Void> ask(MailboxBarrier.Subject subject) {
        MailboxBarrier barrier = new MailboxBarrier(barriers, subject);
        mailbox.handOver(barrier);
        return barrier.copy();
    }

    @Override
    void submitHeld(FlowTransfer transfer) {
        submissions.submit(transfer);
    }

    @Override
    boolean ordersAfter(StartEvent event, int path) {
        StreamOrder order = streamOrders[path];
        return order != null && event instanceof StreamEvent ofStream && order.ordersAfter(ofStream);
    }

    @Override
    boolean completesInto(CompletionEvent event, int path) {
        StreamOrder order = streamOrders[path];
        return order != null && event instanceof StreamCompletion ofStream && order.completesInto(ofStream);
    }

    @Override
    FlowMailbox mailbox() {
        return mailbox;
    }

    @Override
    FlowFigures figures() {
        return figures;
    }

    // ---- the poller ----

    private void run() {
        mailbox.beginRun();
        if (drainMailbox()) {
            mailbox.schedule();
        }
        queue.pump();
    }

    /** Returns true if some were left, so that one busy connection does not delay the poller. */
    private boolean drainMailbox() {
        for (int i = 0; i < MAX_HANDED_OVER_A_RUN; i++) {
            FlowTask mail = mailbox.poll();
            if (mail == null) {
                // a concurrent offer has its slot but is not visible yet, and its thread may have seen this run still
                // scheduled: only the indices show that the mailbox is empty
                return !mailbox.isEmpty();
            }
            // the most frequent type first; a switch over patterns costs more
            if (mail instanceof FlowTransfer transfer) {
                admit(transfer);
            } else if (mail instanceof CancelRequest cancel) {
                cancel(cancel);
            } else if (mail instanceof StartWait wait) {
                start(wait);
            } else if (mail instanceof MailboxBarrier barrier) {
                barriers.answer(barrier);
            }
        }
        return true;
    }

    private void cancel(CancelRequest request) {
        // a request may overtake the submission of its run, which finds it later
        if (request.transfer().isAdmitted(request.run())) {
            endCancelled(request.transfer());
        }
    }

    private void endCancelled(FlowTransfer transfer) {
        endEarly(transfer, new TransferCancelledException("the transfer was cancelled"));
    }

    private void admit(FlowTransfer transfer) {
        int run = transfer.admit();
        ConnectionEnd ended = ends.connectionEnd();
        if (ended != null) {
            endEarly(transfer, ended.error());
            return;
        }
        Duration deadline = transfer.options.deadline();
        if (deadline != null) {
            loop.arm(transfer, transfer.deadlineAt(deadline));
        }
        if (transfer instanceof DataTransfer data) {
            admitData(data);
        } else if (transfer instanceof NotifyTransfer notification) {
            notification.queued();
            notifications.waits();
            groups.close(notification);
            groups.release();
        }
        // its end may have started it again already
        if (transfer.isCancelRequested(run)) {
            endCancelled(transfer);
        }
    }

    private void admitData(DataTransfer data) {
        StartWait wait = data.startWait();
        if (wait != null) {
            awaiting.add(data);
        }
        if (data.changesRemote()) {
            data.enter(groups);
        }
        if (wait == null) {
            waitForTurn(data);
        } else if (wait.hasHappened()) {
            start(wait);
        }
    }

    /** Called when a start event has happened. That may be before its transfer is admitted, which checks it then. */
    private void start(StartWait wait) {
        if (!(wait.transfer() instanceof DataTransfer data)
                || !wait.equals(data.startWait())
                || !awaiting.remove(data)) {
            return;
        }
        Throwable error = wait.error();
        if (error == null) {
            waitForTurn(data);
        } else {
            endEarly(data, new StartEventException("the event that the transfer was to start after has failed", error));
        }
    }

    private void waitForTurn(DataTransfer data) {
        if (!data.isBlocked()) {
            queue.append(data);
        }
    }

    @Override
    void unblocked(FlowTransfer transfer) {
        if (transfer instanceof NotifyTransfer notification) {
            notifications.add(notification);
            notifications.sendAll();
        } else if (transfer instanceof DataTransfer data
                && !data.hasEnded()
                && !data.isBlocked()
                && !awaiting.contains(data)) {
            // it was submitted before most that wait
            queue.insert(data);
            mailbox.schedule();
        }
    }

    @Override
    void whenVisible(FlowTransfer transfer, int path) {
        if (transfer instanceof DataTransfer data) {
            awaiting.awaitVisibility(data, path);
        }
    }

    @Override
    void leave(WriteGroup group) {
        groups.leave(group);
    }

    /**
     * Called when a work request has ended.
     *
     * @param request a request that this flow posted
     * @param status how it ended
     */
    public void completed(WorkRequest request, CompletionStatus status) {
        figures.countCompletion(request.remote().path());
        queue.completed(request, status);
        pumpLater();
    }

    /** Pumps once after all completions of a duty cycle. */
    private void pumpLater() {
        if (queue.hasWaiting()) {
            mailbox.schedule();
        }
    }

    /**
     * The endpoint of a path has room again.
     *
     * @param path its place
     */
    public void postable(int path) {
        queue.postable(path);
    }

    @Override
    void endEarly(FlowTransfer transfer, SluiceException error) {
        if (transfer.hasEnded()) {
            return;
        }
        ElementOperation begun = null;
        if (transfer instanceof DataTransfer data) {
            queue.remove(data);
            awaiting.remove(data);
            begun = data.leaveElement();
        }
        // a cancel is answered by silence, element by element; its terminal signal is the engine's own bookkeeping
        transfer.endUnfinished(error, !(error instanceof TransferCancelledException));
        ends.terminate(transfer, error);
        if (begun != null) {
            queue.abandon(begun);
        }
        if (transfer instanceof NotifyTransfer) {
            notifications.sendAll();
        }
        pumpLater();
    }

    /**
     * Whether a transfer that ended long ago still has requests posted.
     *
     * @param now the loop's time
     * @param timeoutNanos the time after which it is overdue
     * @return true if the endpoint must be closed to end them
     */
    public boolean isQuiescenceOverdue(long now, long timeoutNanos) {
        return quiescence.isOverdue(now, timeoutNanos);
    }

    /**
     * Whether a posted chunk holds a lease on a region.
     *
     * @param memory the region
     * @return true if a chunk has not ended
     */
    public boolean isPostedOn(LeasedMemory memory) {
        return queue.isPostedOn(memory);
    }

    // ---- notifications ----

    /**
     * Called when the peer has consumed notifications.
     *
     * @param count how many more it accepts
     * @return false if that is more than it granted initially
     */
    public boolean grantNotifications(int count) {
        boolean granted = notifications.grant(count);
        notifications.sendAll();
        return granted;
    }

    /** Called when the control channel has room again. */
    public void notificationsSendable() {
        notifications.sendAll();
    }

    /**
     * Whether the peer leaves a notification unacknowledged.
     *
     * @param now the loop's time
     * @param timeoutNanos the time after which it is overdue
     * @return true if the oldest has waited longer
     */
    public boolean isAcknowledgementOverdue(long now, long timeoutNanos) {
        return notifications.isAcknowledgementOverdue(now, timeoutNanos);
    }

    /**
     * Called when the peer's engine has received notifications.
     *
     * @param count how many more
     * @return false if more than were sent
     */
    public boolean notificationsAcknowledged(int count) {
        return notifications.acknowledge(count);
    }

    // ---- the end ----

    /**
     * Refuses new submissions from now on; submitted transfers continue. A concurrent submission is refused, or is
     * counted in {@link #pending()} when this returns.
     *
     * @param why the error of later submissions
     */
    public void refuse(ConnectionEnd why) {
        submissions.refuse(why);
    }

    /**
     * The connection has ended: ends everything that is not posted. The closed endpoint completes posted requests, at
     * once or when its device is done; {@link #endAll} ends the transfers of those that it keeps.
     *
     * @param why the reason
     */
    public void stop(ConnectionEnd why) {
        if (ends.connectionEnd() == null) {
            ends.connectionEnded(why);
            submissions.connectionEnded(why);
            barriers.connectionEnded(why);
            groups.connectionEnded();
        }
    }

    /** Ends what the endpoint never had, after it was closed. */
    public void endAll() {
        ConnectionEnd why = ends.connectionEnd();
        if (why == null) {
            throw new IllegalStateException("the connection has not ended");
        }
        queue.endOffered();
        DataTransfer notBegun;
        while ((notBegun = queue.nextNotBegun()) != null) {
            endEarly(notBegun, notBegun.neverFinished(why));
        }
        // a device that cannot be stopped keeps chunks, with their credits and leases, until it is done with them
        DataTransfer held;
        while ((held = queue.nextHeld()) != null) {
            endEarly(held, held.changesRemote() ? why.outcomeUnknown() : why.error());
        }
        queue.leaveEngineQueues();
        endBlocked(why);
        notifications.endAll(this, groups.followers(), why);
        // transfers never posted have ended above, and the endpoint has completed posted requests
        groups.release();
        // handed over while this ran, or never looked at yet
        while (drainMailbox()) {
            LOG.debug("ending the transfers of a connection that has ended");
        }
    }

    private void endBlocked(ConnectionEnd why) {
        // first the signals that wait for others: once those have ended nothing empties the queue that they would enter
        for (WriteGroup.Follower follower : groups.followers()) {
            if (follower instanceof SignallingTransfer signalling) {
                endEarly(signalling, signalling.neverFinished(why));
            }
        }
        awaiting.endAll(why);
    }
}
