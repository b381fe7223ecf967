package io.sluice.reactor;

import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferResult;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Mono;

/** A transfer that is started for each subscriber when it requests the result. */
abstract class TransferMono extends Mono<TransferResult> implements Scannable {
    /**
     * Submits the transfer.
     *
     * @param callback receives the terminal signal
     * @return a handle
     */
    abstract Transfer submit(TransferCallback callback);

    /**
     * Returns how many bytes a success moves.
     *
     * @return bytes
     */
    abstract long bytes();

    /** Applies the assembly hooks and, where it is enabled, automatic context propagation. */
    final Mono<TransferResult> assembled() {
        return from(onAssembly(this));
    }

    @Override
    public final void subscribe(CoreSubscriber<? super TransferResult> actual) {
        actual.onSubscribe(new TransferSubscription(actual, this));
    }

    @Override
    @SuppressWarnings("rawtypes")
    public final @Nullable Object scanUnsafe(Attr key) {
        return key.equals(Attr.RUN_STYLE) ? Attr.RunStyle.ASYNC : null;
    }
}
