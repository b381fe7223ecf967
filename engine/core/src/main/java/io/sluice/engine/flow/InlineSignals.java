package io.sluice.engine.flow;

import io.sluice.engine.TransferCancelledException;
import java.util.ArrayDeque;

/**
 * The terminal signals that a thread owes for transfers that it has executed itself. A callback of one that starts
 * another gets its signal after it has returned, so that a chain of them never deepens the stack; and a long chain goes
 * over to the poller, so that it does not keep the caller forever.
 */
final class InlineSignals {
    private static final int MOST_IN_A_ROW = 256;
    private static final ThreadLocal<InlineSignals> OF_THREAD = ThreadLocal.withInitial(InlineSignals::new);

    private final ArrayDeque<DataTransfer> owed = new ArrayDeque<>();
    private final InlineClock clock = new InlineClock();
    private boolean giving;
    private int inARow;

    private InlineSignals() {}

    static InlineSignals ofThread() {
        return OF_THREAD.get();
    }

    InlineClock clock() {
        return clock;
    }

    /** False once a chain has had its share of this thread. */
    boolean hasRoom() {
        return !giving || inARow < MOST_IN_A_ROW;
    }

    void give(DataTransfer transfer) {
        if (giving) {
            inARow++;
            owed.addLast(transfer);
            return;
        }
        giving = true;
        inARow = 0;
        try {
            DataTransfer next = transfer;
            while (next != null) {
                signal(next);
                next = owed.pollFirst();
            }
        } finally {
            giving = false;
        }
    }

    private void signal(DataTransfer transfer) {
        boolean cancelled = transfer.isCancelRequested();
        if (!cancelled) {
            transfer.elementsCarriedOut();
            cancelled = transfer.isCancelRequested();
        }
        transfer.flow()
                .figures()
                .countCarriedOut(
                        transfer.path(),
                        transfer.kind(),
                        transfer.elements(),
                        transfer.callerThreadBytes(),
                        transfer.carriedOutNanos(),
                        clock,
                        cancelled);
        // from here on it may be started again, also by its own callback
        transfer.endRun(true);
        transfer.signal(cancelled ? new TransferCancelledException("the transfer was cancelled") : null, true);
    }
}
