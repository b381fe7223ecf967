package io.sluice.engine.flow;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The transfers that wait for something other than their turn: for their start event, or until their bytes are visible to the path
 * of their signal. On the poller's thread.
 */
final class AwaitingTransfers {
    private final OwningFlow flow;
    private final @Nullable Visibility between;
    private final Set<DataTransfer> transfers = Collections.newSetFromMap(new IdentityHashMap<>());

    /**
     * None.
     *
     * @param between what makes the writes of a path visible to the others; null if they are without it
     */
    AwaitingTransfers(OwningFlow flow, @Nullable Visibility between) {
        this.flow = flow;
        this.between = between;
    }

    void add(DataTransfer transfer) {
        transfers.add(transfer);
    }

    boolean remove(DataTransfer transfer) {
        return transfers.remove(transfer);
    }

    boolean contains(DataTransfer transfer) {
        return transfers.contains(transfer);
    }

    /** The bytes of a transfer have been acknowledged on a path: it goes on when they are visible. */
    void awaitVisibility(DataTransfer transfer, int path) {
        Visibility needed = between;
        if (needed == null) {
            flow.unblocked(transfer);
            return;
        }
        transfers.add(transfer);
        int run = transfer.admittedRun();
        needed.make(path, () -> {
            // it may have ended since, and wait again in a later run
            if (transfer.isAdmitted(run) && transfers.remove(transfer)) {
                flow.unblocked(transfer);
            }
        });
    }

    /** The connection has ended. */
    void endAll(ConnectionEnd why) {
        for (DataTransfer transfer : List.copyOf(transfers)) {
            flow.endEarly(transfer, transfer.neverFinished(why));
        }
    }
}
