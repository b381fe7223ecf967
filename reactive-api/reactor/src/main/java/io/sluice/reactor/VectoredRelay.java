package io.sluice.reactor;

import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferElement;
import io.sluice.engine.TransferResult;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler.Worker;

/** One subscriber's vectored transfer: each element has a result. Subclasses supply the elements. */
abstract class VectoredRelay extends DemandRelay<TransferResult> {
    final VectoredTransferFlux source;

    /**
     * The transfers in flight. Only the submitting thread fills a slot; the thread that empties it owns the transfer's
     * end. There are as many slots as elements may be in flight, so a free one always exists.
     */
    private final AtomicReferenceArray<@Nullable InFlightTransfer> inFlight;

    private int nextSlot;

    /** Like the next field, written by the thread that emits results. */
    private int failed;

    private @Nullable SluiceException firstError;

    VectoredRelay(
            CoreSubscriber<? super TransferResult> actual,
            VectoredTransferFlux source,
            int limit,
            int leastTake,
            @Nullable Worker worker) {
        super(actual, limit, leastTake, worker);
        this.source = source;
        this.inFlight = new AtomicReferenceArray<>(limit);
    }

    /** Returns the number of elements, once no more arrive. */
    abstract long elements();

    /** Returns a free slot, or a negative number. Like the next two methods, only for the submitting thread. */
    final int freeSlot() {
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

    /** Called before a transfer is submitted, as it may end during submission. */
    final void enters(InFlightTransfer transfer) {
        inFlight.set(transfer.slot(), transfer);
    }

    /** Called after a transfer was submitted. */
    final void entered(InFlightTransfer transfer, Transfer submitted) {
        transfer.submitted(submitted);
        if (!wantsItems()) {
            submitted.cancel();
        }
    }

    /** Called by any thread when a transfer has ended or was refused; returns true once. */
    final boolean leaves(InFlightTransfer transfer) {
        return inFlight.compareAndSet(transfer.slot(), transfer, null);
    }

    /** Submits one element as a transfer of its own. */
    final void submit(TransferElement element, ElementTransfer transfer) {
        enters(transfer);
        Transfer submitted;
        try {
            submitted = source.submit(element, transfer);
        } catch (SluiceException refused) {
            transfer.ended(refused);
            return;
        } catch (Throwable thrown) {
            // An error of the caller, such as a range outside its region, which no result can carry.
            leaves(transfer);
            failOrDrop(Operators.onOperatorError(null, thrown, element, actual.currentContext()));
            return;
        }
        entered(transfer, submitted);
    }

    /** Called by any thread, once for each element, when it has ended or was refused. */
    final void elementEnded(int index, long length, @Nullable SluiceException error) {
        if (wantsItems()) {
            arrived(new TransferResult(index, error == null ? length : 0, error));
        } else if (error != null && !(error instanceof TransferCancelledException)) {
            // The cancelled error is the result of our own cancel; any other error can only be reported here.
            Operators.onErrorDropped(error, actual.currentContext());
        }
    }

    @Override
    void stop() {
        for (int slot = 0; slot < inFlight.length(); slot++) {
            InFlightTransfer transfer = inFlight.get(slot);
            if (transfer != null) {
                transfer.cancel();
            }
        }
    }

    @Override
    final boolean complete(long handedOver) {
        return handedOver == elements();
    }

    @Override
    final void emitting(TransferResult result) {
        SluiceException error = result.error();
        if (error != null) {
            failed += failed == Integer.MAX_VALUE ? 0 : 1;
            firstError = firstError == null ? error : firstError;
        }
    }

    @Override
    final @Nullable Throwable verdict() {
        SluiceException first = firstError;
        int elements = (int) Math.min(elements(), Integer.MAX_VALUE);
        return first == null ? null : new ElementsFailedException(failed, elements, first);
    }
}
