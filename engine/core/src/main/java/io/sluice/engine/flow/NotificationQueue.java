package io.sluice.engine.flow;

import io.sluice.engine.transport.EventLoop;
import io.sluice.engine.transport.NotificationSender;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The notifications of a connection whose turn has come: those that wait for a credit of the peer or for room on the control
 * channel, and those that are sent and not acknowledged. On the poller's thread.
 */
final class NotificationQueue {
    private final EventLoop loop;
    private final FlowMailbox mailbox;
    private final TransferEnds ends;
    private final NotificationSender sender;
    private final int initialCredits;
    private final ArrayDeque<NotifyTransfer> sendable = new ArrayDeque<>();
    private final ArrayDeque<NotifyTransfer> unacknowledged = new ArrayDeque<>();
    // the poller alone writes them
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

    /** How many more the peer takes; for any thread. */
    int credits() {
        return credits.getOpaque();
    }

    /** How many have not been sent; for any thread. */
    int waiting() {
        return waiting.getOpaque();
    }

    private static void change(AtomicInteger figure, int by) {
        figure.setOpaque(figure.getPlain() + by);
    }

    /** One waits, at first perhaps for what it comes after. */
    void waits() {
        change(waiting, 1);
    }

    /** One that waited was taken out. */
    void waitsNoMore() {
        change(waiting, -1);
    }

    void add(NotifyTransfer notification) {
        sendable.addLast(notification);
    }

    /** Sends what credits and channel allow, and takes out what has ended meanwhile. */
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

    /** False if the peer grants more than it granted to begin with. */
    boolean grant(int count) {
        if (count > initialCredits - credits.getPlain() - unacknowledged.size()) {
            return false;
        }
        change(credits, count);
        return true;
    }

    /** The peer acknowledges the oldest; false if it acknowledges more than were sent. */
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

    /** Takes out the oldest that is not acknowledged, or null. */
    @Nullable
    NotifyTransfer acknowledgeNext() {
        return unacknowledged.pollFirst();
    }

    boolean isAcknowledgementOverdue(long now, long timeoutNanos) {
        NotifyTransfer oldest = unacknowledged.peekFirst();
        return oldest != null && now - oldest.sentAt() > timeoutNanos;
    }

    /** After the end: the next that was never sent, or null. */
    @Nullable
    NotifyTransfer takeUnsent() {
        return sendable.pollFirst();
    }
}
