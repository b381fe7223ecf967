package io.sluice.vertx;

import io.sluice.engine.Transfer;
import io.vertx.core.Future;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One transfer of the engine, whose end completes a future on the context that started it. */
abstract class PendingOperation<T> extends StageDelivery<T> implements TransferHandle<T> {
    private final ContextMailbox mailbox;
    private final @Nullable TransfersUnderWay underWay;
    private final Future<T> result;
    private volatile @Nullable Transfer transfer;

    /**
     * Makes one.
     *
     * @param mailbox of the context that starts it
     * @param underWay who has to know of it until it ends, if anybody
     */
    PendingOperation(ContextMailbox mailbox, @Nullable TransfersUnderWay underWay) {
        this.mailbox = mailbox;
        this.underWay = underWay;
        this.result = mailbox.future(end());
    }

    /**
     * Submits it; what the engine refuses is the result, too.
     *
     * @param submission submits the transfer with this as its callback; not kept, so that it need not be an object
     */
    final PendingOperation<T> start(Supplier<? extends Transfer> submission) {
        if (underWay != null && !underWay.begin(this)) {
            finish(null, TransfersUnderWay.closed());
            return this;
        }
        Transfer submitted;
        try {
            submitted = submission.get();
        } catch (RuntimeException refused) {
            finish(null, refused);
            return this;
        }
        transfer = submitted;
        if (underWay != null && underWay.isClosed()) {
            // a concurrent close may have run before the transfer was set
            submitted.cancel();
        }
        return this;
    }

    /** Takes the end to the context. Called once, by any thread. */
    final void finish(@Nullable T value, @Nullable Throwable error) {
        if (underWay != null) {
            underWay.end(this);
        }
        ended(value, error);
        mailbox.deliver(this);
    }

    @Override
    public final Future<T> result() {
        return result;
    }

    @Override
    public final void cancel() {
        Transfer submitted = transfer;
        if (submitted != null) {
            submitted.cancel();
        }
    }

    @Override
    public final Future<Void> quiesced() {
        Transfer submitted = transfer;
        return submitted == null
                ? mailbox.whenEnded(CompletableFuture.completedFuture(null))
                : mailbox.whenEnded(submitted.quiesced());
    }
}
