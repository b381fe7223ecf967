package io.sluice.reactor;

import io.sluice.engine.Connection;
import io.sluice.engine.ElementsFailedException;
import io.sluice.engine.SluiceException;
import io.sluice.engine.Transfer;
import io.sluice.engine.TransferCancelledException;
import io.sluice.engine.VectoredTransferCallback;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A transfer of many elements, which the test ends one by one; whichever threads it uses for that, the callback has one call
 * at a time. After a cancel it reports no element, as the engine's.
 */
final class FakeVectoredTransfer implements Transfer {
    private final FakeConnection connection;
    private final VectoredTransferCallback callback;
    private final List<FakeTransfer> elements = new ArrayList<>();
    private final AtomicInteger cancels = new AtomicInteger();
    private final AtomicBoolean terminated = new AtomicBoolean();
    private final Queue<Runnable> calls = new ConcurrentLinkedQueue<>();
    private final AtomicInteger announced = new AtomicInteger();

    // of the calling thread
    private int unfinished;
    private int failed;
    private SluiceException firstError;

    FakeVectoredTransfer(FakeConnection connection, List<String> elements, VectoredTransferCallback callback) {
        this.connection = connection;
        this.callback = callback;
        this.unfinished = elements.size();
        for (int i = 0; i < elements.size(); i++) {
            int index = i;
            this.elements.add(new FakeTransfer(
                    connection,
                    elements.get(i),
                    (transfer, previous, error) -> call(() -> elementEnded(index, error))));
        }
    }

    List<FakeTransfer> elements() {
        return elements;
    }

    int cancels() {
        return cancels.get();
    }

    /** Ends it as a whole, without a word about the elements that have not ended. */
    void endWithoutElements(SluiceException error) {
        call(() -> terminate(error));
    }

    private void elementEnded(int index, SluiceException error) {
        if (cancels.get() == 0) {
            callback.element(index, error);
        }
        if (error != null) {
            failed++;
            firstError = firstError == null ? error : firstError;
        }
        unfinished--;
        if (unfinished == 0) {
            terminate(outcome());
        }
    }

    private SluiceException outcome() {
        if (cancels.get() != 0) {
            return new TransferCancelledException("cancelled by the test");
        }
        return firstError == null ? null : new ElementsFailedException(failed, elements.size(), firstError);
    }

    private void terminate(SluiceException error) {
        if (terminated.compareAndSet(false, true)) {
            callback.terminated(this, error);
        }
    }

    private void call(Runnable call) {
        calls.add(call);
        if (announced.getAndIncrement() != 0) {
            return;
        }
        do {
            calls.remove().run();
        } while (announced.decrementAndGet() != 0);
    }

    @Override
    public Connection connection() {
        return connection;
    }

    @Override
    public void cancel() {
        cancels.incrementAndGet();
        elements.stream().filter(element -> !element.isTerminated()).forEach(FakeTransfer::cancel);
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
