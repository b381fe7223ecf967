package io.sluice.reactor.recovery;

import io.sluice.reactor.ReactiveConnection;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import reactor.core.Disposable;
import reactor.core.publisher.MonoSink;
import reactor.core.scheduler.Schedulers;

/** The subscribers that wait for a connection, in the order of arrival, each with a timer. For one thread at a time. */
final class WaitingSubscribers {
    private final Map<MonoSink<ReactiveConnection>, Disposable> timers = new LinkedHashMap<>();

    int size() {
        return timers.size();
    }

    void add(MonoSink<ReactiveConnection> subscriber, Duration most, Runnable expired) {
        timers.put(subscriber, Schedulers.parallel().schedule(expired, most.toNanos(), TimeUnit.NANOSECONDS));
    }

    /** Removes a subscriber; returns false if it was no longer waiting. */
    boolean remove(MonoSink<ReactiveConnection> subscriber) {
        Disposable timer = timers.remove(subscriber);
        if (timer == null) {
            return false;
        }
        end(List.of(timer));
        return true;
    }

    /** Removes all subscribers and passes each to an action. */
    void tellAll(Consumer<MonoSink<ReactiveConnection>> what) {
        List<MonoSink<ReactiveConnection>> told = List.copyOf(timers.keySet());
        end(List.copyOf(timers.values()));
        timers.clear();
        told.forEach(what);
    }

    /** Not on a poller: to take a timer out of its scheduler's queue takes a lock. */
    private static void end(List<Disposable> ended) {
        if (!ended.isEmpty()) {
            Thread.ofVirtual().name("sluice-waiting-end").start(() -> ended.forEach(Disposable::dispose));
        }
    }
}
