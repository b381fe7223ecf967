package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.NotificationListener;
import io.sluice.engine.NotificationSubscription;
import io.sluice.engine.SluiceException;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler.Worker;

/** The single subscriber of a connection's notifications. */
final class NotificationRelay extends DemandRelay<byte[]> implements NotificationListener {
    private volatile @Nullable NotificationSubscription subscription;

    NotificationRelay(CoreSubscriber<? super byte[]> actual, int limit, @Nullable Worker worker) {
        super(actual, limit, 1, worker);
    }

    /**
     * Subscribes to the connection. The subscriber must already have its subscription, as the end may come immediately.
     */
    void subscribe(Connection connection) {
        if (!isCancelled()) {
            try {
                NotificationSubscription listening = connection.subscribe(this);
                subscription = listening;
                if (isCancelled()) {
                    listening.cancel();
                }
            } catch (Throwable thrown) {
                failOrDrop(Operators.onOperatorError(thrown, actual.currentContext()));
            }
        }
        begin();
    }

    @Override
    public void notification(byte[] payload) {
        if (wantsItems()) {
            arrived(payload);
        } else {
            Operators.onDiscard(payload, actual.currentContext());
        }
    }

    @Override
    public void ended(@Nullable SluiceException error) {
        if (error == null) {
            ended();
        } else {
            failOrDrop(error);
        }
    }

    @Override
    void take(long count) {
        NotificationSubscription listening = subscription;
        if (listening != null) {
            listening.request(count);
        }
    }

    @Override
    void stop() {
        NotificationSubscription listening = subscription;
        if (listening != null) {
            listening.cancel();
        }
    }

    @Override
    boolean complete(long handedOver) {
        return true;
    }

    @Override
    @Nullable
    Throwable verdict() {
        return null;
    }
}
