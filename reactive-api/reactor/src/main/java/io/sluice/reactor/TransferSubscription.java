package io.sluice.reactor;

import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferResult;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/** One subscriber's transfer that has a result. */
final class TransferSubscription extends SubmittedSubscription<TransferResult> implements TransferCallback {
    private final TransferMono source;

    TransferSubscription(CoreSubscriber<? super TransferResult> actual, TransferMono source) {
        super(actual);
        this.source = source;
    }

    @Override
    Transfer submit() {
        return source.submit(this);
    }

    @Override
    public void terminated(Transfer ended, @Nullable SluiceException error) {
        if (error == null) {
            succeed(new TransferResult(0, source.bytes(), null));
        } else {
            failed(error);
        }
    }
}
