package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/** A transfer that moves bytes: one element or many, and how far it has been posted. */
abstract class DataTransfer extends FlowTransfer {
    private final WorkRequest.Operation operation;
    private int nextElement;
    private long position;
    private @Nullable ElementOperation current;
    private int liveOperations;
    private @Nullable WriteGroup group;

    DataTransfer(
            ConnectionFlow flow, WorkRequest.Operation operation, TransferOptions options, TransferCallback callback) {
        super(flow, options, callback);
        this.operation = operation;
    }

    abstract int elements();

    abstract LeasedMemory local(int element);

    abstract long localOffset(int element);

    abstract RemoteKey remote(int element);

    abstract long remoteOffset(int element);

    abstract long length(int element);

    /**
     * An element has ended by itself.
     *
     * @return true if it was the last
     */
    abstract boolean elementEnded(int element, @Nullable SluiceException error);

    /** What the terminal signal says when every element has ended by itself. */
    abstract @Nullable SluiceException outcome();

    @Override
    EngineMetrics.Operation kind() {
        return operation == WorkRequest.Operation.WRITE ? EngineMetrics.Operation.WRITE : EngineMetrics.Operation.READ;
    }

    WorkRequest.Operation operation() {
        return operation;
    }

    @Override
    boolean isQuiet() {
        return liveOperations == 0;
    }

    boolean isFullyPosted() {
        return nextElement == elements();
    }

    int nextElement() {
        return nextElement;
    }

    /** Bytes of the current element that have been posted. */
    long position() {
        return position;
    }

    /** The element being posted, or null between two. */
    @Nullable
    ElementOperation current() {
        return current;
    }

    void beginElement(ElementOperation element) {
        current = element;
        position = 0;
        liveOperations++;
    }

    void advance(long bytes) {
        position += bytes;
    }

    /** Goes to the next element; nothing more of the current one will be posted. */
    void finishPosting() {
        current = null;
        position = 0;
        nextElement++;
    }

    void skipElement() {
        nextElement++;
    }

    void operationDone() {
        liveOperations--;
    }

    @Nullable
    WriteGroup group() {
        return group;
    }

    void group(@Nullable WriteGroup value) {
        group = value;
    }
}
