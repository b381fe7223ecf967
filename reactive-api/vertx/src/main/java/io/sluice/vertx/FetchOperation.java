package io.sluice.vertx;

import io.sluice.engine.FetchCallback;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import org.jspecify.annotations.Nullable;

/** An atomic operation, which fetches what a word of the peer held. */
final class FetchOperation extends PendingOperation<Long> implements FetchCallback {
    FetchOperation(ContextMailbox mailbox, @Nullable TransfersUnderWay underWay) {
        super(mailbox, underWay);
    }

    @Override
    public void terminated(Transfer transfer, long previous, @Nullable SluiceException error) {
        finish(error == null ? previous : null, error);
    }
}
