package io.sluice.engine.session;

import io.sluice.engine.NotificationListener;
import io.sluice.engine.SluiceException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Received notifications that are not consumed yet. Their number is bounded by the credits that were granted, as a credit
 * goes back only when a listener has taken a notification. Confined to the connection's loop.
 */
@SuppressWarnings("ReferenceEquality") // listeners are compared by identity
final class NotificationInbox {
    private static final Logger LOG = LoggerFactory.getLogger(NotificationInbox.class);

    /** A listener that may have left without the poller knowing yet. */
    interface Taker extends NotificationListener {
        boolean isActive();
    }

    private final ArrayDeque<byte[]> waiting = new ArrayDeque<>();
    private final Runnable progress;
    private int credits;
    private int toAcknowledge;
    private int toGrant;
    private @Nullable Taker listener;
    private long requested;
    private boolean delivering;
    private boolean ended;
    private @Nullable SluiceException error;

    /**
     * Empty.
     *
     * @param credits what the peer was granted
     * @param progress called when there is something to acknowledge or to grant
     */
    NotificationInbox(int credits, Runnable progress) {
        this.credits = credits;
        this.progress = progress;
    }

    /** False if the peer had no credit left. */
    boolean received(byte[] payload) {
        if (credits == 0) {
            return false;
        }
        credits--;
        toAcknowledge++;
        waiting.addLast(payload);
        deliver();
        progress.run();
        return true;
    }

    void listen(Taker next) {
        listener = next;
        requested = 0;
        deliver();
    }

    void leave(NotificationListener leaving) {
        if (listener == leaving) {
            listener = null;
        }
    }

    void request(NotificationListener from, long count) {
        if (listener == from) {
            requested = requested + count < 0 ? Long.MAX_VALUE : requested + count;
            deliver();
        }
    }

    /** No more will arrive; waiting notifications can still be taken. */
    void end(@Nullable SluiceException why) {
        ended = true;
        error = why;
        deliver();
    }

    int takeAcknowledged() {
        int count = toAcknowledge;
        toAcknowledge = 0;
        return count;
    }

    int takeGranted() {
        int count = toGrant;
        toGrant = 0;
        credits += count;
        return count;
    }

    private void deliver() {
        if (delivering) {
            return;
        }
        delivering = true;
        try {
            Taker to;
            while ((to = listener) != null && to.isActive() && requested > 0 && !waiting.isEmpty()) {
                if (requested != Long.MAX_VALUE) {
                    requested--;
                }
                byte[] payload = waiting.removeFirst();
                toGrant++;
                progress.run();
                try {
                    to.notification(payload);
                } catch (Throwable e) {
                    LOG.error("the notification listener of {} threw an exception", to, e);
                }
            }
            if (to != null && to.isActive() && ended && waiting.isEmpty()) {
                listener = null;
                try {
                    to.ended(error);
                } catch (Throwable e) {
                    LOG.error("the notification listener of {} threw an exception", to, e);
                }
            }
        } finally {
            delivering = false;
        }
    }
}
