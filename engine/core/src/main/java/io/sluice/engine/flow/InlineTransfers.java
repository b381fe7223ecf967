package io.sluice.engine.flow;

import io.sluice.engine.transport.InlineOperations;
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
        InlineOperations inline = endpoints[path];
        InlineSignals signals = InlineSignals.ofThread();
        if (inline == null || !signals.hasRoom()) {
            return false;
        }
        long bytes = transfer.callerThreadBytes();
        signals.clock().begins(figures.callerThreadCounters(path), transfer.kind(), bytes);
        if (!copyAll(transfer, inline)) {
            return false;
        }
        transfer.carriedOut(signals.clock().ends(bytes));
        transfer.beginRun();
        signals.give(transfer);
        return true;
    }

    /** The elements are copied one after another, so one is in flight at a time. */
    private boolean copyAll(DataTransfer transfer, InlineOperations inline) {
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
            return copyElements(transfer, inline);
        } finally {
            window.release(1, bytes);
            mailbox.connectionCreditsReturned();
        }
    }

    /** Neighbours in the same local memory share a lease: its two atomic operations cost as much as a small copy. */
    @SuppressWarnings("ReferenceEquality") // a lease is of one object
    private static boolean copyElements(DataTransfer transfer, InlineOperations inline) {
        LeasedMemory leased = null;
        try {
            for (int element = 0; element < transfer.elements(); element++) {
                LeasedMemory memory = transfer.local(element);
                if (memory != leased) {
                    if (leased != null) {
                        leased.release();
                        leased = null;
                    }
                    if (memory == null || !memory.acquire()) {
                        return false;
                    }
                    leased = memory;
                }
                if (leased == null || !execute(transfer, element, leased, inline)) {
                    return false;
                }
            }
            return true;
        } finally {
            if (leased != null) {
                leased.release();
            }
        }
    }

    private static boolean execute(DataTransfer transfer, int element, LeasedMemory memory, InlineOperations inline) {
        return inline.execute(
                transfer.operation(element),
                memory.memory(),
                transfer.localOffset(element),
                transfer.remote(element),
                transfer.remoteOffset(element),
                transfer.length(element));
    }
}
