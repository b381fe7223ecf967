package io.sluice.reactor;

import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler.Worker;
import reactor.util.context.Context;

/**
 * One subscriber's vectored transfer: each element that its publisher gives becomes a transfer, and each gives a
 * result.
 */
final class VectoredRelay extends DemandRelay<TransferResult> implements CoreSubscriber<TransferElement> {
    private final VectoredTransferFlux source;

    /**
     * What is in flight. Only the publisher's thread fills a slot; whoever empties it owns the element's end. There are
     * as many slots as elements may be under way, so that a free one is always found.
     */
    private final AtomicReferenceArray<@Nullable ElementTransfer> inFlight;

    private @Nullable Subscription upstream;
    private volatile boolean upstreamEnded;

    /** Written by the publisher's thread, and read by others only once the publisher has ended. */
    private long submissions;

    private int nextSlot;

    /** Written, as the next field, by the thread that hands results over. */
    private int failed;

    private @Nullable SluiceException firstError;

    VectoredRelay(
            CoreSubscriber<? super TransferResult> actual,
            VectoredTransferFlux source,
            int limit,
            @Nullable Worker worker) {
        super(actual, limit, worker);
        this.source = source;
        this.inFlight = new AtomicReferenceArray<>(limit);
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
            failOrDrop(Exceptions.failWithOverflow("The publisher gave more elements than it was asked for"));
            return;
        }
        // Elements are numbered from 0, and after 2^31 of them from 0 again.
        int index = (int) (submissions & Integer.MAX_VALUE);
        ElementTransfer transfer = new ElementTransfer(this, slot, index, element.length());
        submissions++;
        inFlight.set(slot, transfer);
        Transfer submitted;
        try {
            submitted = source.submit(element, transfer);
        } catch (SluiceException refused) {
            elementEnded(transfer, refused);
            return;
        } catch (Throwable thrown) {
            // A range that leaves its region and the like: a mistake of the caller, which no result can carry.
            inFlight.set(slot, null);
            failOrDrop(Operators.onOperatorError(null, thrown, element, actual.currentContext()));
            return;
        }
        transfer.submitted(submitted);
        if (!wantsItems()) {
            submitted.cancel();
        }
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

    /** An element has ended, or was refused. May be called by any thread. */
    void elementEnded(ElementTransfer transfer, @Nullable SluiceException error) {
        if (!inFlight.compareAndSet(transfer.slot(), transfer, null)) {
            return;
        }
        if (wantsItems()) {
            arrived(new TransferResult(transfer.index(), error == null ? transfer.length() : 0, error));
        } else if (error != null && !(error instanceof TransferCancelledException)) {
            // The cancelled error is what our own cancel asked for; any other has nobody else to tell.
            Operators.onErrorDropped(error, actual.currentContext());
        }
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
        for (int slot = 0; slot < inFlight.length(); slot++) {
            ElementTransfer transfer = inFlight.get(slot);
            if (transfer != null) {
                transfer.cancel();
            }
        }
    }

    @Override
    boolean complete(long handedOver) {
        return handedOver == submissions;
    }

    @Override
    void emitting(TransferResult result) {
        SluiceException error = result.error();
        if (error != null) {
            failed += failed == Integer.MAX_VALUE ? 0 : 1;
            firstError = firstError == null ? error : firstError;
        }
    }

    @Override
    @Nullable
    Throwable verdict() {
        SluiceException first = firstError;
        int elements = (int) Math.min(submissions, Integer.MAX_VALUE);
        return first == null ? null : new ElementsFailedException(failed, elements, first);
    }

    private int freeSlot() {
        int slots = inFlight.length();
        for (int tried = 0; tried < slots; tried++) {
            int slot = nextSlot;
            nextSlot = slot + 1 == slots ? 0 : slot + 1;
            if (inFlight.get(slot) == null) {
                return slot;
            }
        }
        return -1;
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
