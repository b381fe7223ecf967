package io.sluice.vertx;

import io.sluice.engine.TooManyPendingException;
import io.sluice.experts.ReceiveHook;
import io.vertx.core.Future;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The second half of a call of {@link TransferExpertBuffer}, or of one in memory of GPUs, whose sends are posted. Nothing
 * works for the call until it is completed. May be used from any thread.
 *
 * @param <R> the type of the call's result
 */
public final class TransferReceiveHook<R> {
    private final ClientContext client;
    private final ReceiveHook<R> hook;
    private final AtomicBoolean used = new AtomicBoolean();

    TransferReceiveHook(ClientContext client, ReceiveHook<R> hook) {
        this.client = client;
        this.hook = hook;
    }

    /**
     * Receives. To be called once: until then later calls of the other ranks may wait for this one.
     *
     * @return the result of the call, on the caller's context; fails with {@link IllegalStateException} at a second call
     */
    public Future<R> complete() {
        return EngineCall.start(client, end -> {
            // the engine uses its object again, for another call
            if (!used.compareAndSet(false, true)) {
                throw new IllegalStateException("the call was completed before");
            }
            try {
                hook.complete(end::finish);
            } catch (TooManyPendingException full) {
                // of a GPU: nothing was started
                used.set(false);
                throw full;
            }
        });
    }
}
