package io.sluice.reactor;

import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.TransferResult;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/** One subscriber's transfer. It is the engine's callback itself, so that a transfer costs one object here. */
final class TransferSubscription extends SingleSubscription<TransferResult> implements TransferCallback {
    private final TransferMono source;

    /** Written before the state says that the transfer can be abandoned, and read after. */
    private @Nullable Transfer transfer;

    TransferSubscription(CoreSubscriber<? super TransferResult> actual, TransferMono source) {
        super(actual);
        this.source = source;
    }

    @Override
    void start() {
        Transfer submitted;
        try {
            submitted = source.submit(this);
        } catch (Throwable thrown) {
            Throwable error = Operators.onOperatorError(thrown, actual.currentContext());
            if (!fail(error)) {
                Operators.onErrorDropped(error, actual.currentContext());
            }
            return;
        }
        transfer = submitted;
        if (!running()) {
            submitted.cancel();
        }
    }

    @Override
    void abandon() {
        Transfer submitted = transfer;
        if (submitted != null) {
            submitted.cancel();
        }
    }

    @Override
    public void terminated(Transfer ended, @Nullable SluiceException error) {
        if (error == null) {
            succeed(new TransferResult(0, source.bytes(), null));
        } else if (!fail(error) && !(error instanceof TransferCancelledException)) {
            // The cancelled error is what our own cancel asked for; any other has nobody else to tell.
            Operators.onErrorDropped(error, actual.currentContext());
        }
    }
}
