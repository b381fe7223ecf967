package io.sluice.reactor.observation;

import io.sluice.collectives.CollectiveTimeoutException;
import java.util.concurrent.atomic.AtomicReference;

/** A call of a rank that is observed. Thread-safe. */
class CallWork implements ObservedWork {
    private final AtomicReference<TransferOutcome> outcome = new AtomicReference<>(TransferOutcome.UNKNOWN);

    final TransferOutcome outcome() {
        return outcome.get();
    }

    @Override
    public void emitted(Object value) {}

    @Override
    public final TransferOutcome outcomeOf(Throwable error) {
        return error instanceof CollectiveTimeoutException ? TransferOutcome.TIMEOUT : TransferOutcome.of(error);
    }

    @Override
    public final boolean end(TransferOutcome how) {
        return outcome.compareAndSet(TransferOutcome.UNKNOWN, how);
    }
}
