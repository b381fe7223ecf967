package io.sluice.samples.bench;

import io.sluice.engine.FetchCallback;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferResult;
import io.sluice.engine.VectoredTransferCallback;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;

/**
 * One of the transfers that a connection keeps going: when one ends it starts the next. It is the callback and the
 * subscriber of them all, so that a transfer costs no object here. Confined to the connection's poller.
 */
final class Slot implements VectoredTransferCallback, FetchCallback, CoreSubscriber<Object> {

    private final Driver driver;
    private final int index;
    private long startedAt;
    private boolean elementFailed;

    Slot(Driver driver, int index) {
        this.driver = driver;
        this.index = index;
    }

    int index() {
        return index;
    }

    long startedAt() {
        return startedAt;
    }

    void start(long now) {
        startedAt = now;
        elementFailed = false;
    }

    // ---- the engine's callback ----

    @Override
    public void element(int element, @Nullable SluiceException error) {
        elementFailed |= error != null;
    }

    @Override
    public void terminated(Transfer transfer, @Nullable SluiceException error) {
        driver.ended(this, error);
    }

    @Override
    public void terminated(Transfer transfer, long previous, @Nullable SluiceException error) {
        if (error == null) {
            driver.fetched(previous);
        }
        driver.ended(this, error);
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
            case Long previous -> driver.fetched(previous);
            default -> throw new IllegalArgumentException("no operation gives " + result);
        }
    }

    @Override
    public void onError(Throwable error) {
        driver.ended(this, error);
    }

    @Override
    public void onComplete() {
        driver.ended(this, elementFailed ? Driver.ELEMENT_FAILED : null);
    }
}
