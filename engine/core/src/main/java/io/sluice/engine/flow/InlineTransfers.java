package io.sluice.engine.flow;

import io.sluice.engine.transport.InlineOperations;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Small transfers that the calling thread executes itself, if the transport can and nothing waits before them: this
 * saves the way to the poller and back. Credits and leases are held as for any other transfer. Thread-safe.
 */
final class InlineTransfers {
    private final FlowFigures figures;
    private final FlowMailbox mailbox;
    // by path; null where the endpoint has none
    private final @Nullable InlineOperations[] endpoints;
    private final long[] mostBytes;
    private final ConnectionWindow window;

    InlineTransfers(FlowFigures figures, FlowMailbox mailbox, List<FlowPath> paths, ConnectionWindow window) {
        this.figures = figures;
        this.mailbox = mailbox;
        this.endpoints = paths.stream().map(FlowPath::inline).toArray(InlineOperations[]::new);
        this.mostBytes = paths.stream()
                .mapToLong(
                        path -> path.inline() == null ? 0 : path.capabilities().callerThreadBytes())
                .toArray();
        this.window = window;
    }

    /**
     * Executes a transfer that the calling thread holds, and signals its end, at the latest after the signal that this
     * thread is delivering now.
     *
     * @return false if nothing was done and it must be posted instead
     */
    boolean execute(DataTransfer transfer) {
        int path = transfer.path();
        if (transfer.callerThreadBytes() > mostBytes[path] || transfer.options.startAfter() != null) {
            return false;
        }
        // with several paths, a path that cannot copy here would make earlier copies run again and count for the first
        // path
        if (endpoints.length > 1 && !transfer.isOfOnePath()) {
            return false;
        }
        InlineSignals signals = InlineSignals.ofThread();
        if (!signals.hasRoom()) {
            return false;
        }
        long bytes = transfer.callerThreadBytes();
        signals.clock().begins(figures.callerThreadCounters(path), transfer.kind(), bytes);
        if (!copyAll(transfer)) {
            return false;
        }
        transfer.carriedOut(signals.clock().ends(bytes));
        transfer.beginRun();
        signals.give(transfer);
        return true;
    }

    /** The elements are copied one after another, so one is in flight at a time. */
    private boolean copyAll(DataTransfer transfer) {
        long bytes = transfer.callerThreadBytes();
        ConnectionWindow.Grant grant = window.tryAcquire(mailbox, 1, bytes);
        if (grant != ConnectionWindow.Grant.GRANTED) {
            if (grant == ConnectionWindow.Grant.ENGINE_EXHAUSTED) {
                // a transfer that came meanwhile may have lacked what this had of the connection's
                mailbox.connectionCreditsReturned();
            }
            return false;
        }
        try {
            boolean done = true;
            for (int element = 0; done && element < transfer.elements(); element++) {
                done = copy(transfer, element);
            }
            return done;
        } finally {
            window.release(1, bytes);
            mailbox.connectionCreditsReturned();
        }
    }

    private boolean copy(DataTransfer transfer, int element) {
        WorkRequest.Opcode operation = transfer.operation(element);
        LeasedMemory memory = transfer.local(element);
        if (memory == null || !memory.acquire()) {
            return false;
        }
        try {
            RemoteKey remote = transfer.remote(element);
            InlineOperations inline = endpoints[remote.path()];
            return inline != null
                    && inline.execute(
                            operation,
                            memory.memory(),
                            transfer.localOffset(element),
                            remote,
                            transfer.remoteOffset(element),
                            transfer.length(element));
        } finally {
            memory.release();
        }
    }
}
