package io.sluice.reactor;

import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferResult;
import org.jspecify.annotations.Nullable;
import reactor.core.CoreSubscriber;
import reactor.core.Scannable;
import reactor.core.publisher.Mono;

/** A transfer, started once for each subscriber when it requests the result. */
abstract class TransferMono extends Mono<TransferResult> implements Scannable {
    /**
     * Submits the transfer.
     *
     * @param callback the terminal signal
     * @return a handle
     */
    abstract Transfer submit(TransferCallback callback);

    /**
     * How many bytes a success moves.
     *
     * @return bytes
     */
    abstract long bytes();

    /** Lets the assembly hooks see it, and the automatic context propagation wrap it where that is switched on. */
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
