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

/** One subscriber's vectored transfer: each element gives a result, wherever the elements come from. */
abstract class VectoredRelay extends DemandRelay<TransferResult> {
    final VectoredTransferFlux source;

    /**
     * What is in flight. Only the thread that submits fills a slot; the thread that empties it owns the transfer's end. There are
     * as many slots as elements may be under way, so that a free one is always found.
     */
    private final AtomicReferenceArray<@Nullable InFlightTransfer> inFlight;

    private int nextSlot;

    /** Written, as the next field, by the thread that hands results over. */
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

    /** How many elements there were, once no more come. */
    abstract long elements();

    /** A slot that is free, or a negative number. For the thread that submits, as the next two. */
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

    /** A transfer is about to be submitted, and may end before it is. */
    final void enters(InFlightTransfer transfer) {
        inFlight.set(transfer.slot(), transfer);
    }

    /** It was submitted. */
    final void entered(InFlightTransfer transfer, Transfer submitted) {
        transfer.submitted(submitted);
        if (!wantsItems()) {
            submitted.cancel();
        }
    }

    /** A transfer has ended, or was refused: true once. Any thread. */
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
            // A range that leaves its region and the like: a mistake of the caller, which no result can carry.
            leaves(transfer);
            failOrDrop(Operators.onOperatorError(null, thrown, element, actual.currentContext()));
            return;
        }
        entered(transfer, submitted);
    }

    /** An element has ended, or was refused. Any thread, once for each element. */
    final void elementEnded(int index, long length, @Nullable SluiceException error) {
        if (wantsItems()) {
            arrived(new TransferResult(index, error == null ? length : 0, error));
        } else if (error != null && !(error instanceof TransferCancelledException)) {
            // The cancelled error is what our own cancel asked for; any other error can only be reported here.
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
