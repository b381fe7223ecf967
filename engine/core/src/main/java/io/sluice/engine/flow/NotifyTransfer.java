package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;
import org.jspecify.annotations.Nullable;

/** A notification on its way. */
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

    /** It takes its place in the queue of notifications. */
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

    /** When it was sent. */
    long sentAt() {
        return sentAt;
    }

    /** What to send; from now on it only waits for the acknowledgement. */
    byte[] takePayload(long now, long at) {
        byte[] taken = payload;
        payload = GONE;
        queued = false;
        sentAt = now;
        posted(at);
        return taken;
    }

    /**
     * Whether it is still in the queue of notifications, and stays there though it has ended: so it goes on counting as
     * pending, and what waits behind a slow peer stays bounded.
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
