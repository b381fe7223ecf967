package io.sluice.vertx;

import io.sluice.engine.FetchCallback;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferResult;
import io.vertx.core.Future;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One transfer of the engine, whose end completes a future on the context that started it. */
abstract class PendingOperation<T> extends StageDelivery<T> implements TransferHandle<T> {
    private final ClientContext client;
    private final ContextMailbox mailbox;
    private final Future<T> result;
    private volatile @Nullable Transfer transfer;

    PendingOperation(ClientContext client) {
        this.client = client;
        this.mailbox = client.mailbox();
        this.result = mailbox.future(end());
    }

    /** A transfer of bytes, a signal or a notification. */
    static final class OfBytes extends PendingOperation<TransferResult> implements TransferCallback {
        private final long bytes;

        OfBytes(ClientContext client, long bytes) {
            super(client);
            this.bytes = bytes;
        }

        @Override
        public void terminated(Transfer transfer, @Nullable SluiceException error) {
            finish(error == null ? new TransferResult(0, bytes, null) : null, error);
        }
    }

    /** An atomic operation, which fetches a word of the peer. */
    static final class OfWord extends PendingOperation<Long> implements FetchCallback {
        OfWord(ClientContext client) {
            super(client);
        }

        @Override
        public void terminated(Transfer transfer, long previous, @Nullable SluiceException error) {
            finish(error == null ? previous : null, error);
        }
    }

    /**
     * Submits it; a refusal by the engine fails the future.
     *
     * @param submission submits the transfer with this object as its callback; not retained, so that it need not
     *     allocate
     */
    final PendingOperation<T> start(Supplier<? extends Transfer> submission) {
        if (!client.begin(this)) {
            finish(null, OpenWork.clientClosed());
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
        if (client.closedTransfers()) {
            // a concurrent close may have run before the transfer was set
            submitted.cancel();
        }
        return this;
    }

    /** Delivers the end to the context. Called once, by any thread. */
    final void finish(@Nullable T value, @Nullable Throwable error) {
        client.end(this);
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
        return mailbox.whenEnded(submitted == null ? CompletableFuture.completedFuture(null) : submitted.quiesced());
    }
}
