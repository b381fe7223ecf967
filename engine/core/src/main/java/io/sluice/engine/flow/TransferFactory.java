package io.sluice.engine.flow;

import io.sluice.engine.FetchCallback;
import io.sluice.engine.PageCallback;
import io.sluice.engine.PreparedTransfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.VectoredTransferCallback;
import io.sluice.engine.transport.PageTable;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/** Creates the transfers of a flow from checked arguments. Thread-safe. */
public final class TransferFactory {
    private final ConnectionFlow flow;

    /**
     * Creates the factory of a flow.
     *
     * @param flow the flow to which started transfers are submitted
     */
    public TransferFactory(ConnectionFlow flow) {
        this.flow = flow;
    }

    /**
     * Starts a transfer that this factory has just created and no other code knows, so it cannot be running.
     *
     * @param made a transfer of this factory
     * @throws io.sluice.engine.SluiceException if the connection accepts no transfers
     */
    public void start(PreparedTransfer made) {
        DataTransfer transfer = (DataTransfer) made;
        transfer.holdNew();
        flow.submitHeld(transfer);
    }

    /**
     * A read or write of one element.
     *
     * @param operation read or write
     * @param plan the element, checked
     * @param options deadline, priority and events
     * @param callback the terminal signal
     * @return the transfer, not started
     */
    public PreparedTransfer single(
            WorkRequest.Opcode operation, ElementPlan plan, TransferOptions options, TransferCallback callback) {
        return new SingleTransfer(flow, operation, plan, options, callback);
    }

    /**
     * A read or write of one element whose ranges can be changed.
     *
     * @param operation read or write
     * @param plan the element, checked
     * @param localBase where the local region or slice begins in the plan's memory, in bytes
     * @param localLength how long it is
     * @param remoteLength how long the remote region is
     * @param options deadline, priority and events
     * @param callback the terminal signal
     * @return the transfer, not started
     */
    public PreparedTransfer aimable(
            WorkRequest.Opcode operation,
            ElementPlan plan,
            long localBase,
            long localLength,
            long remoteLength,
            TransferOptions options,
            TransferCallback callback) {
        return new RetargetableTransfer(flow, operation, plan, localBase, localLength, remoteLength, options, callback);
    }

    /**
     * A transfer of many elements.
     *
     * @param operation read or write
     * @param plan the elements, checked; not changed any more
     * @param options deadline, priority and events
     * @param callback results and terminal signal
     * @return the transfer, not started
     */
    public PreparedTransfer vectored(
            WorkRequest.Opcode operation,
            ElementPlan[] plan,
            TransferOptions options,
            VectoredTransferCallback callback) {
        return new VectoredTransfer(flow, operation, plan, options, callback);
    }

    /**
     * A transfer of many pages.
     *
     * @param operation read or write
     * @param local the local region, checked
     * @param remote the remote region, checked
     * @param table the pages, checked; used by nothing else
     * @param options deadline, priority and events
     * @param callback the terminal signal
     * @return the transfer, not started
     */
    public PreparedTransfer pages(
            WorkRequest.Opcode operation,
            LeasedMemory local,
            RemoteKey remote,
            PageTable table,
            TransferOptions options,
            PageCallback callback) {
        Chunker chunker = flow.chunker(remote.path(), local.memory().kind());
        return new PageTransfer(flow, operation, local, remote, table, chunker, options, callback);
    }

    /**
     * A write that carries a signal, or a signal by itself.
     *
     * @param write the bytes, checked, or {@code null} for the signal alone
     * @param signal what to do to which signal, checked
     * @param options deadline, priority and events
     * @param callback the terminal signal
     * @return the transfer, not started
     */
    public PreparedTransfer signalling(
            @Nullable ElementPlan write, SignalPlan signal, TransferOptions options, TransferCallback callback) {
        return new SignallingTransfer(flow, write, signal, options, callback);
    }

    /**
     * A put or an atomic operation that fetches.
     *
     * @param operation which
     * @param remote the remote region
     * @param remoteOffset where the value or word lies, checked
     * @param bytes 1 to 8 for a put, else 8
     * @param operand what is put, added or swapped in
     * @param expected what a compare-and-swap expects
     * @param options deadline, priority and events
     * @param callback the terminal signal
     * @return the transfer, not started
     */
    public PreparedTransfer word(
            WorkRequest.Opcode operation,
            RemoteKey remote,
            long remoteOffset,
            int bytes,
            long operand,
            long expected,
            TransferOptions options,
            FetchCallback callback) {
        return new WordTransfer(flow, operation, remote, remoteOffset, bytes, operand, expected, options, callback);
    }
}
