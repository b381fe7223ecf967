package io.sluice.vertx;

import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferResult;
import org.jspecify.annotations.Nullable;

/** An operation that moves bytes, or tells the peer something. */
final class TransferOperation extends PendingOperation<TransferResult> implements TransferCallback {
    private final long bytes;

    TransferOperation(ContextMailbox mailbox, @Nullable TransfersUnderWay underWay, long bytes) {
        super(mailbox, underWay);
        this.bytes = bytes;
    }

    @Override
    public void terminated(Transfer transfer, @Nullable SluiceException error) {
        finish(error == null ? new TransferResult(0, bytes, null) : null, error);
    }
}
