package io.sluice.samples.bench;

import io.sluice.engine.FetchCallback;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferResult;
import io.sluice.engine.VectoredTransferCallback;
import io.vertx.core.Completable;
import io.vertx.core.streams.ReadStream;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/**
 * One of the transfers that a connection keeps going, one after the other. It is the callback, the subscriber and the listener of them
 * all, so that a transfer costs no object here, and keeps how the last one ended until its driver looks. A transfer may
 * end before the call that starts it has returned, or on another thread.
 */
final class Slot implements VectoredTransferCallback, FetchCallback, CoreSubscriber<Object>, Completable<Object> {
    private final Driver driver;
    private final int index;
    private boolean timed;
    private long startedAt;
    private long endedAt;
    private @Nullable Throwable error;
    private boolean elementFailed;
    private boolean hasFetched;
    private long fetched;
    private @Nullable Slot next;

    Slot(Driver driver, int index) {
        this.driver = driver;
        this.index = index;
    }

    int index() {
        return index;
    }

    /** A transfer is about to be started, whose latency counts. */
    void start(long now) {
        timed = true;
        startedAt = now;
        prepare();
    }

    void startUntimed() {
        timed = false;
        prepare();
    }

    private void prepare() {
        error = null;
        elementFailed = false;
        hasFetched = false;
    }

    private void end(@Nullable Throwable cause) {
        error = cause;
        if (timed) {
            endedAt = System.nanoTime();
        }
        driver.ended(this);
    }

    private void fetch(long previous) {
        hasFetched = true;
        fetched = previous;
    }

    // ---- how the last transfer ended ----

    boolean isTimed() {
        return timed;
    }

    long startedAt() {
        return startedAt;
    }

    long endedAt() {
        return endedAt;
    }

    @Nullable
    Throwable error() {
        return error;
    }

    /** Whether it was an atomic operation, which has found {@link #fetched}. */
    boolean hasFetched() {
        return hasFetched;
    }

    long fetched() {
        return fetched;
    }

    // ---- a list of slots, which each is in one of at most ----

    @Nullable
    Slot next() {
        return next;
    }

    void precede(@Nullable Slot other) {
        next = other;
    }

    // ---- the engine's callback ----

    @Override
    public void element(int element, @Nullable SluiceException failure) {
        // The terminal signal reports it, too.
    }

    @Override
    public void terminated(Transfer transfer, @Nullable SluiceException failure) {
        end(failure);
    }

    @Override
    public void terminated(Transfer transfer, long previous, @Nullable SluiceException failure) {
        if (failure == null) {
            fetch(previous);
        }
        end(failure);
    }

    // ---- Vert.x ----

    @Override
    public void complete(@Nullable Object result, @Nullable Throwable failure) {
        if (result instanceof Long previous) {
            fetch(previous);
        }
        end(failure);
    }

    /** Takes the results of a vectored transfer. */
    void follow(ReadStream<TransferResult> results) {
        results.exceptionHandler(this::onError)
                .endHandler(nothing -> onComplete())
                .handler(this::onNext);
    }

    // ---- Reactor's subscriber ----

    @Override
    public void onSubscribe(Subscription subscription) {
        subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(Object result) {
        switch (result) {
            case TransferResult element -> elementFailed |= !element.succeeded();
            case Long previous -> fetch(previous);
            default -> throw new IllegalArgumentException("no operation gives " + result);
        }
    }

    @Override
    public void onError(Throwable failure) {
        end(failure);
    }

    @Override
    public void onComplete() {
        end(elementFailed ? Driver.ELEMENT_FAILED : null);
    }
}
