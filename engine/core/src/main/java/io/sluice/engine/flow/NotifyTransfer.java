package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import org.jspecify.annotations.Nullable;

/** A notification to the peer. */
final class NotifyTransfer extends FlowTransfer implements WriteGroup.Follower {
    private static final byte[] GONE = {};

    private final TransferCallback callback;
    private final int length;
    private byte[] payload;
    private boolean queued;
    private long sentAt;

    NotifyTransfer(OwningFlow flow, byte[] payload, TransferOptions options, TransferCallback callback) {
        super(flow, options);
        this.callback = callback;
        this.payload = payload;
        this.length = payload.length;
    }

    /** Says that it has entered the queue of notifications. */
    void queued() {
        queued = true;
    }

    @Override
    int path() {
        // whichever way it goes, it is the connection's preferred transport that is asked for it
        return 0;
    }

    @Override
    long totalBytes() {
        return length;
    }

    /** Returns when it was sent. */
    long sentAt() {
        return sentAt;
    }

    /** Returns the payload to send; from now on it waits only for the acknowledgement. */
    byte[] takePayload(long now, long at) {
        byte[] taken = payload;
        payload = GONE;
        queued = false;
        sentAt = now;
        posted(at);
        return taken;
    }

    /**
     * Whether it is still in the queue of notifications and stays there although it has ended: so it still counts as
     * pending, which bounds what waits for a slow peer.
     */
    boolean keepsItsPlace() {
        return queued;
    }

    @Override
    EngineMetrics.Operation kind() {
        return EngineMetrics.Operation.NOTIFY;
    }

    @Override
    boolean isQuiet() {
        return true; // the payload was copied
    }

    @Override
    void endUnfinished(SluiceException error, boolean report) {
        payload = GONE;
        countFailed(path(), error, length);
    }

    @Override
    void deliver(@Nullable SluiceException error) {
        callback.terminated(this, error);
    }

    @Override
    public void reached() {
        flow().unblocked(this);
    }
}
