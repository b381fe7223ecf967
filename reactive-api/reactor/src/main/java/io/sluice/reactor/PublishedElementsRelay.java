package io.sluice.reactor;

import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler.Worker;
import reactor.util.context.Context;

/** Submits each element of a publisher immediately, as a transfer of its own. */
final class PublishedElementsRelay extends VectoredRelay implements CoreSubscriber<TransferElement> {
    private @Nullable Subscription upstream;
    private volatile boolean upstreamEnded;

    /** Written by the publisher's thread; others read it only after the publisher has ended. */
    private long submissions;

    PublishedElementsRelay(
            CoreSubscriber<? super TransferResult> actual,
            VectoredTransferFlux source,
            int limit,
            @Nullable Worker worker) {
        super(actual, source, limit, 1, worker);
    }

    @Override
    public Context currentContext() {
        return actual.currentContext();
    }

    @Override
    public void onSubscribe(Subscription subscription) {
        if (Operators.validate(upstream, subscription)) {
            upstream = subscription;
            actual.onSubscribe(this);
            begin();
        }
    }

    @Override
    public void onNext(TransferElement element) {
        if (!isActive()) {
            dropElement(element);
            return;
        }
        int slot = freeSlot();
        if (slot < 0) {
            failOrDrop(Exceptions.failWithOverflow("The publisher emitted more elements than were requested"));
            return;
        }
        // Elements are numbered from 0, and after 2^31 of them from 0 again.
        int index = (int) (submissions & Integer.MAX_VALUE);
        submissions++;
        submit(element, new ElementTransfer(this, slot, index, element.length()));
    }

    @Override
    public void onError(Throwable error) {
        upstreamEnded = true;
        failOrDrop(error);
    }

    @Override
    public void onComplete() {
        upstreamEnded = true;
        ended();
    }

    @Override
    void take(long count) {
        Subscription publisher = upstream;
        if (publisher != null) {
            publisher.request(count);
        }
    }

    @Override
    void stop() {
        Subscription publisher = upstream;
        if (publisher != null && !upstreamEnded) {
            publisher.cancel();
        }
        super.stop();
    }

    @Override
    long elements() {
        return submissions;
    }

    private void dropElement(TransferElement element) {
        if (upstreamEnded) {
            Operators.onNextDropped(element, actual.currentContext());
        } else {
            Operators.onDiscard(element, actual.currentContext());
        }
    }

    @Override
    @SuppressWarnings("rawtypes")
    public @Nullable Object scanUnsafe(Attr key) {
        return key.equals(Attr.PARENT) ? upstream : super.scanUnsafe(key);
    }
}
