package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.FetchCallback;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** A transfer that ends when the test says so, or when it is cancelled. */
final class FakeTransfer implements Transfer {
    final String what;
    private final FakeConnection connection;
    private final FetchCallback callback;
    private final AtomicBoolean terminated = new AtomicBoolean();
    private final AtomicInteger cancels = new AtomicInteger();

    FakeTransfer(FakeConnection connection, String what, FetchCallback callback) {
        this.connection = connection;
        this.what = what;
        this.callback = callback;
    }

    void succeed() {
        end(0, null);
    }

    /** With what the word held before. */
    void fetched(long previous) {
        end(previous, null);
    }

    void end(SluiceException error) {
        end(0, error);
    }

    private void end(long previous, SluiceException error) {
        if (terminated.compareAndSet(false, true)) {
            connection.left();
            callback.terminated(this, previous, error);
        }
    }

    /** A second terminal signal, which the engine never gives. */
    void signalAgain() {
        callback.terminated(this, 0, null);
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
