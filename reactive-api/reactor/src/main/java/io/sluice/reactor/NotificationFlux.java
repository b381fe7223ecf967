package io.sluice.reactor;

import io.sluice.engine.Connection;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Scheduler.Worker;
import reactor.util.concurrent.Queues;

/** A connection's notifications. */
final class NotificationFlux extends Flux<byte[]> implements Scannable {
    /**
     * Enough to keep a scheduler's thread busy; notifications that are not requested stay with the connection and slow
     * the sender.
     */
    private static final int ASKED_AHEAD = Queues.XS_BUFFER_SIZE;

    private final Connection connection;
    private final @Nullable Scheduler scheduler;

    private NotificationFlux(Connection connection, @Nullable Scheduler scheduler) {
        this.connection = connection;
        this.scheduler = scheduler;
    }

    static Flux<byte[]> of(Connection connection, @Nullable Scheduler scheduler) {
        return from(onAssembly(new NotificationFlux(connection, scheduler)));
    }

    @Override
    public void subscribe(CoreSubscriber<? super byte[]> actual) {
        Worker worker;
        try {
            worker = scheduler == null ? null : scheduler.createWorker();
        } catch (Throwable thrown) {
            Operators.error(actual, Operators.onOperatorError(thrown, actual.currentContext()));
            return;
        }
        NotificationRelay relay = new NotificationRelay(actual, ASKED_AHEAD, worker);
        actual.onSubscribe(relay);
        relay.subscribe(connection);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public @Nullable Object scanUnsafe(Attr key) {
        return key.equals(Attr.RUN_STYLE) ? Attr.RunStyle.ASYNC : null;
    }

    @Override
    public String stepName() {
        return "notifications";
    }
}
