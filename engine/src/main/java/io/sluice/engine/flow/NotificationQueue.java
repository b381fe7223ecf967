package io.sluice.engine.flow;

import io.sluice.engine.transport.NotificationSender;
import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The notifications of a connection whose turn has come: those that wait for a credit of the peer or for room on the control
 * channel, and those that are sent and not acknowledged. On the poller's thread.
 */
final class NotificationQueue {
    private final NotificationSender sender;
    private final int initialCredits;
    private final ArrayDeque<NotifyTransfer> sendable = new ArrayDeque<>();
    private final ArrayDeque<NotifyTransfer> unacknowledged = new ArrayDeque<>();
    // the poller alone writes them
    private final AtomicInteger credits;
    private final AtomicInteger waiting = new AtomicInteger();

    NotificationQueue(NotificationSender sender, int initialCredits) {
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

    /** The next to be sent, or null. */
    @Nullable
    NotifyTransfer next() {
        return sendable.peekFirst();
    }

    /** Takes the next out: it has ended meanwhile. */
    void skip() {
        sendable.removeFirst();
        waitsNoMore();
    }

    boolean canSend() {
        return credits.getPlain() > 0 && sender.hasRoom();
    }

    /** Sends the next. */
    void send(long now, long at) {
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

    /** The next that the peer acknowledges, or null if none was sent. */
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
