package io.sluice.engine.flow;

import io.sluice.engine.SluiceException;
import io.sluice.engine.transport.EventLoop;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * The ends of a flow's transfers: the effect of an element's end on its transfer, the terminal signal, and the release
 * of what waited for it. On the poller's thread.
 */
final class TransferEnds {
    private final EventLoop loop;
    private final FlowMailbox mailbox;
    private final FlowFigures figures;
    private final WriteGroups groups;
    private final Quiescence quiescence;
    private volatile @Nullable ConnectionEnd connectionEnd;

    TransferEnds(EventLoop loop, FlowMailbox mailbox, FlowFigures figures, WriteGroups groups, Quiescence quiescence) {
        this.loop = loop;
        this.mailbox = mailbox;
        this.figures = figures;
        this.groups = groups;
        this.quiescence = quiescence;
    }

    /** The connection has ended. */
    void connectionEnded(ConnectionEnd why) {
        connectionEnd = why;
    }

    /** Returns why the connection has ended, or null. */
    @Nullable
    ConnectionEnd connectionEnd() {
        return connectionEnd;
    }

    /**
     * Called when an element has ended and nothing of it is posted any more.
     *
     * @param transfer whose
     * @param element which
     * @param error {@code null} for success
     * @param postedAt when its first chunk was, if one was
     */
    void elementDone(DataTransfer transfer, int element, @Nullable SluiceException error, long postedAt) {
        if (transfer.hasEnded()) {
            if (transfer.isQuiet()) {
                transfer.becomesQuiet();
                CompletableFuture<Void> waitedFor = transfer.askForQuiescence();
                leaveGroups(transfer);
                transfer.rest();
                if (waitedFor != null) {
                    waitedFor.complete(null);
                }
                groups.release();
                quiescence.release();
            }
        } else if (transfer.elementEnded(element, error, postedAt)) {
            terminate(transfer, transfer.outcome());
        }
    }

    /** Ends a running transfer: gives its terminal signal. */
    void terminate(FlowTransfer transfer, @Nullable SluiceException error) {
        if (figures.isObserved()) {
            reportIfSlow(transfer, error);
        }
        if (transfer.options.deadline() != null) {
            loop.disarm(transfer);
        }
        transfer.dropStartWait();
        // before the next run may begin
        boolean byHost = transfer.completesOnHost(error);
        if (!(transfer instanceof NotifyTransfer notification && notification.keepsItsPlace())) {
            mailbox.removePending();
        }
        if (!transfer.isQuiet()) {
            quiescence.endsUnquiet(transfer, loop.now());
            transfer.endRun(false);
            transfer.signal(error, byHost);
            return;
        }
        CompletableFuture<Void> waitedFor = transfer.takeQuiescence();
        leaveGroups(transfer);
        // from here on it may be started again, also by its own callback
        transfer.endRun(true);
        transfer.signal(error, byHost);
        if (waitedFor != null) {
            waitedFor.complete(null);
        }
        groups.release();
    }

    private void reportIfSlow(FlowTransfer transfer, @Nullable SluiceException error) {
        long endedAt = loop.batchTime();
        long nanos = endedAt - transfer.readyAt();
        if (figures.isSlow(nanos)) {
            figures.reportSlow(transfer.kind(), transfer.totalBytes(), transfer.waitedNanos(endedAt), nanos, error);
        }
    }

    /**
     * Removes it from its groups, so that later operations no longer wait for it. {@code groups.release()} must follow.
     */
    private static void leaveGroups(FlowTransfer transfer) {
        if (!(transfer instanceof DataTransfer data)) {
            return;
        }
        WriteGroup group = data.takeGroup();
        if (group != null) {
            group.leave();
        }
        if (data instanceof SignallingTransfer signalling) {
            WriteGroup bytes = signalling.takeBytesGroup();
            if (bytes != null) {
                bytes.leave();
            }
            signalling.stopFollowing();
        }
    }
}
