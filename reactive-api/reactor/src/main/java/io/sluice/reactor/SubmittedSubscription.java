package io.sluice.reactor;

import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * One subscriber's transfer. Subclasses are the engine's callback themselves, so that a transfer costs one object here.
 *
 * @param <T> what the subscriber receives
 */
abstract class SubmittedSubscription<T> extends SingleSubscription<T> {
    /** Written before the state allows abandoning the transfer, and read afterwards. */
    private @Nullable Transfer transfer;

    SubmittedSubscription(CoreSubscriber<? super T> actual) {
        super(actual);
    }

    /** Submits the transfer with this object as its callback. */
    abstract Transfer submit();

    @Override
    final void start() {
        Transfer submitted;
        try {
            submitted = submit();
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
    final void abandon() {
        Transfer submitted = transfer;
        if (submitted != null) {
            submitted.cancel();
        }
    }

    /** Called when the transfer has ended with an error. */
    final void failed(SluiceException error) {
        if (!fail(error) && !(error instanceof TransferCancelledException)) {
            // The cancelled error is the result of our own cancel; any other error can only be reported here.
            Operators.onErrorDropped(error, actual.currentContext());
        }
    }
}
