package io.sluice.vertx;

import io.sluice.engine.FetchCallback;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** An atomic operation, which fetches what a word of the peer held. */
final class FetchOperation extends Operation<Long> implements FetchCallback {
    private final Function<? super FetchCallback, ? extends Transfer> submission;

    FetchOperation(
            ContextMailbox mailbox,
            @Nullable TransfersUnderWay underWay,
            Function<? super FetchCallback, ? extends Transfer> submission) {
        super(mailbox, underWay);
        this.submission = submission;
    }

    @Override
    Transfer submit() {
        return submission.apply(this);
    }

    @Override
    public void terminated(Transfer transfer, long previous, @Nullable SluiceException error) {
        finish(error == null ? previous : null, error);
    }
}
