package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics;
import io.sluice.engine.SignalOrder;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import io.sluice.engine.transport.RemoteKey;
import io.sluice.engine.transport.WorkRequest;
import org.jspecify.annotations.Nullable;

/**
 * A write that carries a signal, or a signal by itself. The bytes are its first element and the signal its second, with
 * its own credit, so a waiting signal never holds a credit that earlier writes need. If the write is one work request
 * and the signal need not wait for others, that request carries the signal and there is no second element.
 */
final class SignallingTransfer extends DataTransfer implements WriteGroup.Follower {
    private static final int BYTES_ELEMENT = 0;
    private static final int SIGNAL_ELEMENT = 1;

    private final @Nullable ElementPlan write;
    private final SignalPlan signal;
    private final TransferCallback callback;

    // the group that a strong signal comes after, as long as it waits for it
    private @Nullable WriteGroup precedingGroup;
    // the group of the bytes; the signal is in the next one
    private @Nullable WriteGroup bytesGroup;
    private boolean bytesDone;
    private boolean carried;
    private @Nullable SluiceException error;

    SignallingTransfer(
            OwningFlow flow,
            @Nullable ElementPlan write,
            SignalPlan signal,
            TransferOptions options,
            TransferCallback callback) {
        super(flow, options);
        this.write = write;
        this.signal = signal;
        this.callback = callback;
    }

    @Override
    void reset() {
        super.reset();
        bytesDone = false;
        carried = false;
        error = null;
        if (write == null) {
            skipElement();
            bytesDone = true;
        }
    }

    // ---- what it is ----

    @Override
    EngineMetrics.Operation kind() {
        return write == null ? EngineMetrics.Operation.SIGNAL : EngineMetrics.Operation.WRITE;
    }

    @Override
    int path() {
        return (write == null ? signal.remote() : write.remote()).path();
    }

    @Override
    long totalBytes() {
        return write == null ? WorkRequest.WORD_BYTES : write.length();
    }

    @Override
    void elementPosted(int element, long at) {
        if (element == BYTES_ELEMENT || write == null) {
            posted(at);
        }
    }

    @Override
    int elements() {
        return SIGNAL_ELEMENT + 1;
    }

    private ElementPlan bytes() {
        ElementPlan plan = write;
        if (plan == null) {
            throw new IllegalStateException("the signal comes by itself");
        }
        return plan;
    }

    @Override
    WorkRequest.Opcode operation(int element) {
        return element == BYTES_ELEMENT ? WorkRequest.Opcode.WRITE : WorkRequest.Opcode.SIGNAL;
    }

    @Override
    boolean changesRemote() {
        return true;
    }

    @Override
    long length(int element) {
        return element == BYTES_ELEMENT ? bytes().length() : WorkRequest.WORD_BYTES;
    }

    @Override
    @Nullable
    LeasedMemory local(int element) {
        return element == BYTES_ELEMENT ? bytes().local() : null;
    }

    @Override
    long localOffset(int element) {
        return element == BYTES_ELEMENT ? bytes().localOffset() : 0;
    }

    @Override
    RemoteKey remote(int element) {
        return element == BYTES_ELEMENT ? bytes().remote() : signal.remote();
    }

    @Override
    long remoteOffset(int element) {
        return element == BYTES_ELEMENT ? bytes().remoteOffset() : signal.offset();
    }

    @Override
    long operand(int element) {
        return signal.addend();
    }

    // ---- order ----

    @Override
    void enter(WriteGroups groups) {
        if (signal.order() != SignalOrder.STRONG) {
            super.enter(groups);
            return;
        }
        if (write != null) {
            bytesGroup = groups.enter();
        }
        precedingGroup = groups.close(this);
        super.enter(groups);
        groups.release();
    }

    @Override
    public void reached() {
        precedingGroup = null;
        flow().unblocked(this);
    }

    @Override
    boolean isBlocked() {
        return nextElement() == SIGNAL_ELEMENT && (!bytesDone || precedingGroup != null);
    }

    /** Whether the work request of all the bytes may carry the signal. */
    boolean canCarry(WriteGroups groups) {
        RemoteKey to = bytes().remote();
        if (to.path() != signal.remote().path() || !to.carriesWords()) {
            return false;
        }
        WriteGroup mine = bytesGroup;
        return precedingGroup == null || (mine != null && groups.isNextAlone(mine));
    }

    void carry(Chunk chunk) {
        chunk.carry(signal);
        carried = true;
    }

    @Override
    void finishPosting() {
        super.finishPosting();
        if (carried) {
            skipElement();
        }
    }

    /** The group that its bytes leave before the signal; or null. */
    @Nullable
    WriteGroup takeBytesGroup() {
        WriteGroup mine = bytesGroup;
        bytesGroup = null;
        return mine;
    }

    /** It ends: it must not be called when its turn comes. */
    void stopFollowing() {
        WriteGroup group = precedingGroup;
        if (group != null) {
            precedingGroup = null;
            group.dropFollower();
        }
    }

    // ---- the end ----

    @Override
    boolean hasTakenEffect() {
        return write != null && bytesDone;
    }

    @Override
    SluiceException neverFinished(ConnectionEnd why) {
        return hasTakenEffect() ? why.outcomeUnknown() : why.error();
    }

    @Override
    boolean elementEnded(int element, @Nullable SluiceException failure, long postedAt) {
        if (element == BYTES_ELEMENT && failure == null && !carried) {
            bytesDone = true;
            WriteGroup group = takeBytesGroup();
            if (group != null) {
                flow().leave(group);
            }
            // operations that follow its group wait for visibility there
            if (signal.order() == SignalOrder.WEAK && path() != signal.remote().path()) {
                flow().whenVisible(this, path());
            } else {
                flow().unblocked(this);
            }
            return false;
        }
        error = failure;
        // the bytes' post, if there are any: waiting for the signal's turn is no wait for credits
        count(path(), failure, totalBytes(), postedAt());
        return true;
    }

    @Override
    void endUnfinished(SluiceException failure, boolean report) {
        countFailed(path(), failure, totalBytes());
    }

    @Override
    @Nullable
    SluiceException outcome() {
        return error;
    }

    @Override
    void deliver(@Nullable SluiceException failure) {
        callback.terminated(this, failure);
    }
}
