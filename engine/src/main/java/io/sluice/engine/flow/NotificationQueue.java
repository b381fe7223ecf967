package io.sluice.engine.flow;

import io.sluice.engine.transport.NotificationSender;
import java.util.ArrayDeque;
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
    private int credits;

    NotificationQueue(NotificationSender sender, int initialCredits) {
        this.sender = sender;
        this.initialCredits = initialCredits;
        this.credits = initialCredits;
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
    }

    boolean canSend() {
        return credits > 0 && sender.hasRoom();
    }

    /** Sends the next. */
    void send(long now) {
        NotifyTransfer notification = sendable.removeFirst();
        credits--;
        unacknowledged.addLast(notification);
        sender.send(notification.takePayload(now));
    }

    /** False if the peer grants more than it granted to begin with. */
    boolean grant(int count) {
        if (count > initialCredits - credits - unacknowledged.size()) {
            return false;
        }
        credits += count;
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
