package io.sluice.reactor;

import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import org.jspecify.annotations.Nullable;

/** An element that is submitted as a transfer of its own. */
final class ElementTransfer extends InFlightTransfer implements TransferCallback {
    private final VectoredRelay relay;
    private final int index;
    private final long length;

    ElementTransfer(VectoredRelay relay, int slot, int index, long length) {
        super(slot);
        this.relay = relay;
        this.index = index;
        this.length = length;
    }

    /** Called when the element has ended or was refused. */
    void ended(@Nullable SluiceException error) {
        if (relay.leaves(this)) {
            relay.elementEnded(index, length, error);
        }
    }

    @Override
    public void terminated(Transfer transfer, @Nullable SluiceException error) {
        ended(error);
    }
}
