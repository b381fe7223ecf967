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

    /** Returns the relay's slot of this transfer. */
    final int slot() {
        return slot;
    }

    /** Makes the transfer cancellable. */
    final void submitted(Transfer transfer) {
        submitted = transfer;
    }

    /**
     * Cancels the transfer if it was submitted; otherwise the submitting thread must check again whether it is still
     * wanted.
     */
    final void cancel() {
        Transfer transfer = submitted;
        if (transfer != null) {
            transfer.cancel();
        }
    }
}
