package io.sluice.reactor;

import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import org.jspecify.annotations.Nullable;

/** One element of a vectored Flux, from its submission to its end. */
final class ElementTransfer implements TransferCallback {
    private final VectoredRelay relay;
    private final int slot;
    private final int index;
    private final long length;
    private volatile @Nullable Transfer submitted;

    ElementTransfer(VectoredRelay relay, int slot, int index, long length) {
        this.relay = relay;
        this.slot = slot;
        this.index = index;
        this.length = length;
    }

    /** Where the relay keeps it. */
    int slot() {
        return slot;
    }

    /** Its place among the elements. */
    int index() {
        return index;
    }

    /** Its length in bytes. */
    long length() {
        return length;
    }

    /** From now on it can be cancelled. */
    void submitted(Transfer transfer) {
        submitted = transfer;
    }

    /** Cancels it if it can be already; if it cannot, whoever submits it has to look once more whether it is wanted. */
    void cancel() {
        Transfer transfer = submitted;
        if (transfer != null) {
            transfer.cancel();
        }
    }

    @Override
    public void terminated(Transfer transfer, @Nullable SluiceException error) {
        relay.elementEnded(this, error);
    }
}
