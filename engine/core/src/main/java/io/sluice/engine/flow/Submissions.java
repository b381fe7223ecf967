package io.sluice.engine.flow;

import io.sluice.engine.SluiceException;
import io.sluice.engine.TooManyPendingException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Accepts transfers of a connection, in the call or into the mailbox, or refuses them. Any thread. */
final class Submissions {
    private final FlowMailbox mailbox;
    private final FlowFigures figures;
    private final int maxPending;
    // null if no path executes transfers on the calling thread
    private final @Nullable InlineTransfers callerThread;
    // the end of the connection, also while it only draws near
    private volatile @Nullable ConnectionEnd refusal;

    Submissions(
            FlowMailbox mailbox, FlowFigures figures, List<FlowPath> paths, ConnectionWindow window, int maxPending) {
        this.mailbox = mailbox;
        this.figures = figures;
        this.maxPending = maxPending;
        this.callerThread = paths.stream()
                        .allMatch(path ->
                                path.inline() == null || path.capabilities().callerThreadBytes() == 0)
                ? null
                : new InlineTransfers(figures, mailbox, paths, window);
    }

    /**
     * Submits a transfer that the calling thread holds.
     *
     * @throws TooManyPendingException if as many transfers are pending as {@code maxPending} allows
     * @throws SluiceException if submissions are refused
     */
    void submit(FlowTransfer transfer) {
        ConnectionEnd refusing = refusal;
        if (refusing != null) {
            throw refused(transfer, refusing);
        }
        InlineTransfers here = callerThread;
        if (here != null && mailbox.pending() == 0 && transfer instanceof DataTransfer data && here.execute(data)) {
            return;
        }
        if (!mailbox.addPending()) {
            transfer.letGo();
            figures.countOverflow();
            throw new TooManyPendingException(maxPending + " transfers are pending on this connection, the most that"
                    + " maxPending allows; wait for some to end, or raise it");
        }
        // the thread that begins to refuse looks for pending transfers afterwards, so it finds this one or this one is
        // refused here
        ConnectionEnd meanwhile = refusal;
        if (meanwhile != null) {
            mailbox.removePending();
            throw refused(transfer, meanwhile);
        }
        transfer.begin();
    }

    private SluiceException refused(FlowTransfer transfer, ConnectionEnd why) {
        SluiceException error = why.error();
        transfer.countRefused(figures, error);
        transfer.letGo();
        return error;
    }

    /** Refuses later submissions, unless they are refused already. */
    void refuse(ConnectionEnd why) {
        if (refusal == null) {
            refusal = why;
        }
    }

    /** Refuses later submissions because the connection has ended. */
    void connectionEnded(ConnectionEnd why) {
        refusal = why;
    }
}
