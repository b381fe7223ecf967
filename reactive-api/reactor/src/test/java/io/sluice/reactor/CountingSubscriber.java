package io.sluice.reactor;

import java.util.concurrent.atomic.AtomicInteger;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/** Counts its signals, those that break the rules, and what is discarded for it. It asks for nothing by itself. */
class CountingSubscriber<T> implements CoreSubscriber<T> {
    private final AtomicInteger items = new AtomicInteger();
    private final AtomicInteger completions = new AtomicInteger();
    private final AtomicInteger errors = new AtomicInteger();
    private final AtomicInteger discarded = new AtomicInteger();
    private final AtomicInteger breaches = new AtomicInteger();
    private final AtomicInteger inside = new AtomicInteger();
    private final Context context =
            Operators.enableOnDiscard(Context.empty(), discardedItem -> discarded.incrementAndGet());
    private Subscription subscription;

    @Override
    public Context currentContext() {
        return context;
    }

    @Override
    public void onSubscribe(Subscription given) {
        subscription = given;
    }

    @Override
    public void onNext(T item) {
        count(items, terminals());
    }

    @Override
    public void onError(Throwable error) {
        count(errors, terminals());
    }

    @Override
    public void onComplete() {
        count(completions, terminals());
    }

    private void count(AtomicInteger signals, int terminalsBefore) {
        if (inside.getAndIncrement() != 0 || terminalsBefore != 0) {
            breaches.incrementAndGet();
        }
        signals.incrementAndGet();
        inside.decrementAndGet();
    }

    Subscription subscription() {
        return subscription;
    }

    int items() {
        return items.get();
    }

    int completions() {
        return completions.get();
    }

    int errors() {
        return errors.get();
    }

    int terminals() {
        return completions.get() + errors.get();
    }

    int discarded() {
        return discarded.get();
    }

    /** Signals that came after a terminal one, or into another. */
    int breaches() {
        return breaches.get();
    }
}
