package io.sluice.reactor;

import io.sluice.testkit.Patience;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/** Records every signal, and every breach of the rules: signals side by side, or after the terminal one. */
class RecordingSubscriber<T> implements CoreSubscriber<T> {
    final Queue<T> items = new ConcurrentLinkedQueue<>();
    final Queue<String> breaches = new ConcurrentLinkedQueue<>();
    final AtomicInteger completions = new AtomicInteger();
    final Queue<Throwable> errors = new ConcurrentLinkedQueue<>();
    final CountDownLatch terminated = new CountDownLatch(1);
    private final AtomicInteger inside = new AtomicInteger();
    private final Consumer<? super T> onItem;
    volatile Subscription subscription;

    RecordingSubscriber() {
        this(item -> {});
    }

    RecordingSubscriber(Consumer<? super T> onItem) {
        this.onItem = onItem;
    }

    @Override
    public void onSubscribe(Subscription given) {
        if (subscription != null) {
            breaches.add("a second subscription");
        }
        subscription = given;
    }

    @Override
    public void onNext(T item) {
        signal(() -> {
            items.add(item);
            onItem.accept(item);
        });
    }

    @Override
    public void onError(Throwable error) {
        signal(() -> errors.add(error));
        terminated.countDown();
    }

    @Override
    public void onComplete() {
        signal(completions::incrementAndGet);
        terminated.countDown();
    }

    private void signal(Runnable record) {
        if (subscription == null) {
            breaches.add("a signal before the subscription");
        }
        if (inside.getAndIncrement() != 0) {
            breaches.add("two signals at once");
        }
        if (terminals() != 0) {
            breaches.add("a signal after the terminal one");
        }
        record.run();
        inside.decrementAndGet();
    }

    int terminals() {
        return completions.get() + errors.size();
    }

    void awaitTerminal() {
        Patience.await(terminated);
    }
}
