package io.sluice.reactor;

import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferElement;
import io.sluice.engine.VectoredTransferCallback;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Neighbours in a list of elements that are one transfer of the engine's, and so share what each costs it. */
final class ElementRun extends InFlightTransfer implements VectoredTransferCallback {
    private final VectoredRelay relay;
    private final int first;
    private final List<TransferElement> elements;

    /** Which elements have ended. Touched by the engine's calls only, of which there is one at a time, as the next field. */
    private final boolean[] ended;

    private int underWay;

    ElementRun(VectoredRelay relay, int slot, int first, List<TransferElement> elements) {
        super(slot);
        this.relay = relay;
        this.first = first;
        this.elements = elements;
        this.underWay = elements.size();
        this.ended = new boolean[underWay];
    }

    @Override
    public void element(int index, @Nullable SluiceException error) {
        if (ended[index]) {
            return;
        }
        ended[index] = true;
        underWay--;
        if (underWay == 0) {
            // Before its last result, behind which another transfer may need the slot.
            relay.leaves(this);
        }
        relay.elementEnded(first + index, elements.get(index).length(), error);
    }

    @Override
    public void terminated(Transfer transfer, @Nullable SluiceException error) {
        // Only a cancel leaves elements without a result, and then nobody waits for one.
        for (int index = 0; underWay > 0 && error != null && index < ended.length; index++) {
            element(index, error);
        }
    }
}
