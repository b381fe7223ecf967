package io.sluice.engine.flow;

import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.NotificationSender;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The notifications of a connection that no longer wait for earlier operations: those that wait for a credit of the
 * peer or for room on the control channel, and those that are sent and not acknowledged. On the poller's thread.
 */
final class NotificationQueue {
    private final EventLoop loop;
    private final FlowMailbox mailbox;
    private final TransferEnds ends;
    private final NotificationSender sender;
    private final int initialCredits;
    private final ArrayDeque<NotifyTransfer> sendable = new ArrayDeque<>();
    private final ArrayDeque<NotifyTransfer> unacknowledged = new ArrayDeque<>();
    // written only by the poller
    private final AtomicInteger credits;
    private final AtomicInteger waiting = new AtomicInteger();

    NotificationQueue(
            EventLoop loop, FlowMailbox mailbox, TransferEnds ends, NotificationSender sender, int initialCredits) {
        this.loop = loop;
        this.mailbox = mailbox;
        this.ends = ends;
        this.sender = sender;
        this.initialCredits = initialCredits;
        this.credits = new AtomicInteger(initialCredits);
    }

    /** Returns how many more the peer accepts; for any thread. */
    int credits() {
        return credits.getOpaque();
    }

    /** Returns how many have not been sent; for any thread. */
    int waiting() {
        return waiting.getOpaque();
    }

    private static void change(AtomicInteger figure, int by) {
        figure.setOpaque(figure.getPlain() + by);
    }

    /** Counts a waiting notification, which may first wait for earlier operations. */
    void waits() {
        change(waiting, 1);
    }

    /** Counts a waiting notification less. */
    void waitsNoMore() {
        change(waiting, -1);
    }

    void add(NotifyTransfer notification) {
        sendable.addLast(notification);
    }

    /** Sends as many as credits and channel allow, and removes those that have ended meanwhile. */
    void sendAll() {
        if (ends.connectionEnd() != null) {
            return;
        }
        NotifyTransfer next;
        while ((next = sendable.peekFirst()) != null) {
            if (next.hasEnded()) {
                sendable.removeFirst();
                waitsNoMore();
                mailbox.removePending();
            } else if (canSend()) {
                sendNext(loop.now(), loop.batchTime());
            } else {
                return;
            }
        }
    }

    private boolean canSend() {
        return credits.getPlain() > 0 && sender.hasRoom();
    }

    private void sendNext(long now, long at) {
        NotifyTransfer notification = sendable.removeFirst();
        change(credits, -1);
        waitsNoMore();
        unacknowledged.addLast(notification);
        sender.send(notification.takePayload(now, at));
    }

    /** Returns false if the peer grants more than it granted initially. */
    boolean grant(int count) {
        if (count > initialCredits - credits.getPlain() - unacknowledged.size()) {
            return false;
        }
        change(credits, count);
        return true;
    }

    /** Called when the peer acknowledges the oldest ones; returns false if it acknowledges more than were sent. */
    boolean acknowledge(int count) {
        for (int i = 0; i < count; i++) {
            NotifyTransfer transfer = acknowledgeNext();
            if (transfer == null) {
                return false;
            }
            if (!transfer.hasEnded()) {
                transfer.count(transfer.path(), null, transfer.totalBytes(), transfer.postedAt());
                ends.terminate(transfer, null);
            }
        }
        return true;
    }

    /** Removes and returns the oldest that is not acknowledged, or null. */
    private @Nullable NotifyTransfer acknowledgeNext() {
        return unacknowledged.pollFirst();
    }

    boolean isAcknowledgementOverdue(long now, long timeoutNanos) {
        NotifyTransfer oldest = unacknowledged.peekFirst();
        return oldest != null && now - oldest.sentAt() > timeoutNanos;
    }

    /** The connection has ended: ends those that wait for writes, for credits, and for their acknowledgement. */
    void endAll(OwningFlow flow, Iterable<WriteGroup.Follower> followers, ConnectionEnd why) {
        for (WriteGroup.Follower follower : followers) {
            if (follower instanceof NotifyTransfer waitingForWrites) {
                endUnsent(flow, waitingForWrites, why);
            }
        }
        NotifyTransfer notification;
        while ((notification = sendable.pollFirst()) != null) {
            endUnsent(flow, notification, why);
        }
        while ((notification = acknowledgeNext()) != null) {
            flow.endEarly(notification, why.notificationUnknown());
        }
    }

    /** Ends a notification that stays counted as pending while it waits. */
    private void endUnsent(OwningFlow flow, NotifyTransfer notification, ConnectionEnd why) {
        flow.endEarly(notification, why.error());
        mailbox.removePending();
        waitsNoMore();
    }
}
