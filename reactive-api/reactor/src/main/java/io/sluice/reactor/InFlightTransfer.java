package io.sluice.reactor;

import io.sluice.engine.Transfer;
import org.jspecify.annotations.Nullable;

/** One or more elements of a vectored Flux, from their submission to their end. */
abstract sealed class InFlightTransfer permits ElementTransfer, ElementRun {
    private final int slot;
    private volatile @Nullable Transfer submitted;

    InFlightTransfer(int slot) {
        this.slot = slot;
    }

    /** Where the relay keeps it. */
    final int slot() {
        return slot;
    }

    /** From now on it can be cancelled. */
    final void submitted(Transfer transfer) {
        submitted = transfer;
    }

    /** Cancels it if it can be already; if it cannot, the submitting thread has to check once more whether it is wanted. */
    final void cancel() {
        Transfer transfer = submitted;
        if (transfer != null) {
            transfer.cancel();
        }
    }
}
