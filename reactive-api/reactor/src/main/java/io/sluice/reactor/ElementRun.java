package io.sluice.reactor;

import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferElement;
import io.sluice.engine.VectoredTransferCallback;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Neighbouring elements of a list that share one transfer of the engine, and so its cost. */
final class ElementRun extends InFlightTransfer implements VectoredTransferCallback {
    private final VectoredRelay relay;
    private final int first;
    private final List<TransferElement> elements;

    /** Which elements have ended. Like the following fields, used only by the engine's calls, one at a time. */
    private final boolean[] ended;

    private int underWay;
    private int lastEnded;
    private @Nullable SluiceException lastError;
    private boolean over;

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
        if (underWay > 0) {
            tell(index, error);
            return;
        }
        // After the last result another transfer may be submitted, which may need this one's place in the engine.
        lastEnded = index;
        lastError = error;
        if (over) {
            tellLast();
        }
    }

    @Override
    public void terminated(Transfer transfer, @Nullable SluiceException error) {
        // Only a cancel leaves elements without a result, and then no subscriber waits for one.
        for (int index = 0; underWay > 0 && error != null && index < ended.length; index++) {
            element(index, error);
        }
        over = true;
        if (underWay == 0) {
            tellLast();
        }
    }

    private void tellLast() {
        if (relay.leaves(this)) {
            tell(lastEnded, lastError);
        }
    }

    private void tell(int index, @Nullable SluiceException error) {
        relay.elementEnded(first + index, elements.get(index).length(), error);
    }
}
