package io.sluice.engine.flow;

import io.sluice.engine.EngineMetrics;
import io.sluice.engine.SluiceException;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferOptions;

/** A notification on its way. */
final class NotifyTransfer extends FlowTransfer {
    private final byte[] payload;

    NotifyTransfer(ConnectionFlow flow, byte[] payload, TransferOptions options, TransferCallback callback) {
        super(flow, options, callback);
        this.payload = payload;
    }

    byte[] payload() {
        return payload;
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
        flow().count(kind(), error, 0);
    }
}
