package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCallback;
import io.sluice.engine.TransferCancelledException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** A transfer that ends when the test says so, or when it is cancelled. */
final class FakeTransfer implements Transfer {
    final String what;
    private final FakeConnection connection;
    private final TransferCallback callback;
    private final AtomicBoolean terminated = new AtomicBoolean();
    private final AtomicInteger cancels = new AtomicInteger();

    FakeTransfer(FakeConnection connection, String what, TransferCallback callback) {
        this.connection = connection;
        this.what = what;
        this.callback = callback;
    }

    void succeed() {
        end(null);
    }

    void end(SluiceException error) {
        if (terminated.compareAndSet(false, true)) {
            connection.left();
            callback.terminated(this, error);
        }
    }

    /** A second terminal signal, which the engine never gives. */
    void signalAgain() {
        callback.terminated(this, null);
    }

    int cancels() {
        return cancels.get();
    }

    @Override
    public Connection connection() {
        return connection;
    }

    @Override
    public void cancel() {
        cancels.incrementAndGet();
        end(new TransferCancelledException("cancelled by the test"));
    }

    @Override
    public boolean isTerminated() {
        return terminated.get();
    }

    @Override
    public CompletableFuture<Void> quiesced() {
        return CompletableFuture.completedFuture(null);
    }
}
