package io.sluice.reactor;

import io.sluice.engine.NotificationListener;
import io.sluice.engine.NotificationSubscription;
import io.sluice.engine.SluiceException;
import java.util.ArrayDeque;
import java.util.Queue;

/** A connection's notifications as the engine promises them: kept until asked for, delivered one at a time. */
final class FakeNotifications {
    private final Queue<byte[]> kept = new ArrayDeque<>();
    private NotificationListener listener;
    private long asked;
    private long mostAsked;
    private boolean delivering;
    private boolean over;
    private SluiceException end;

    /** The action of another thread during a subscription. */
    Runnable meanwhile = () -> {};

    synchronized NotificationSubscription subscribe(NotificationListener subscriber) {
        if (listener != null) {
            throw new IllegalStateException("there is a listener already");
        }
        listener = subscriber;
        asked = 0;
        meanwhile.run();
        deliver();
        return new NotificationSubscription() {
            @Override
            public void request(long count) {
                synchronized (FakeNotifications.this) {
                    if (listener == subscriber) {
                        asked = asked + count < 0 ? Long.MAX_VALUE : asked + count;
                        mostAsked = Math.max(mostAsked, asked);
                        deliver();
                    }
                }
            }

            @Override
            public void cancel() {
                synchronized (FakeNotifications.this) {
                    if (listener == subscriber) {
                        listener = null;
                    }
                }
            }
        };
    }

    synchronized void send(byte[] payload) {
        kept.add(payload);
        deliver();
    }

    synchronized void end(SluiceException error) {
        over = true;
        end = error;
        deliver();
    }

    synchronized int kept() {
        return kept.size();
    }

    synchronized boolean hasListener() {
        return listener != null;
    }

    synchronized long mostAsked() {
        return mostAsked;
    }

    private void deliver() {
        if (delivering) {
            return;
        }
        delivering = true;
        while (listener != null && asked > 0 && !kept.isEmpty()) {
            asked--;
            listener.notification(kept.poll());
        }
        delivering = false;
        if (over && kept.isEmpty() && listener != null) {
            NotificationListener last = listener;
            listener = null;
            last.ended(end);
        }
    }
}
