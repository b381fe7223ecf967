package io.sluice.reactor;

import io.sluice.engine.FetchCallback;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;

/** One subscriber's atomic operation. */
final class FetchSubscription extends SubmittedSubscription<Long> implements FetchCallback {
    private final Function<? super FetchCallback, ? extends Transfer> operation;

    FetchSubscription(
            CoreSubscriber<? super Long> actual, Function<? super FetchCallback, ? extends Transfer> operation) {
        super(actual);
        this.operation = operation;
    }

    @Override
    Transfer submit() {
        return operation.apply(this);
    }

    @Override
    public void terminated(Transfer ended, long previous, @Nullable SluiceException error) {
        if (error == null) {
            succeed(previous);
        } else {
            failed(error);
        }
    }
}
