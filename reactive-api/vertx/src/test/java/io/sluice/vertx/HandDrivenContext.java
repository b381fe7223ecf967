package io.sluice.vertx;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.ThreadingModel;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.core.spi.context.storage.AccessMode;
import io.vertx.core.spi.context.storage.ContextLocal;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** An event loop that runs its tasks when the test says so. */
final class HandDrivenContext implements Context {
    private final Queue<Handler<Void>> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicInteger handed = new AtomicInteger();
    private volatile boolean closed;

    /** From now on it takes no work. */
    void close() {
        closed = true;
    }

    @Override
    public void runOnContext(Handler<Void> task) {
        if (closed) {
            throw new RejectedExecutionException("closed");
        }
        handed.incrementAndGet();
        tasks.add(task);
    }

    /** Runs what there is, and what comes of it. By one thread at a time. */
    void run() {
        for (Handler<Void> task = tasks.poll(); task != null; task = tasks.poll()) {
            task.handle(null);
        }
    }

    /** How many tasks it was given. */
    int handed() {
        return handed.get();
    }

    @Override
    public ThreadingModel threadingModel() {
        return ThreadingModel.EVENT_LOOP;
    }

    @Override
    public boolean isEventLoopContext() {
        return true;
    }

    @Override
    public boolean isWorkerContext() {
        return false;
    }

    @Override
    public <T> Future<T> executeBlocking(Callable<T> work, boolean ordered) {
        throw new UnsupportedOperationException();
    }

    @Override
    public String deploymentID() {
        throw new UnsupportedOperationException();
    }

    @Override
    public JsonObject config() {
        throw new UnsupportedOperationException();
    }

    @Override
    public <T> T get(Object key) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void put(Object key, Object value) {
        throw new UnsupportedOperationException();
    }

    @Override
    public boolean remove(Object key) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Vertx owner() {
        throw new UnsupportedOperationException();
    }

    @Override
    public int getInstanceCount() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Context exceptionHandler(Handler<Throwable> handler) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Handler<Throwable> exceptionHandler() {
        throw new UnsupportedOperationException();
    }

    @Override
    public <T> T getLocal(ContextLocal<T> key, AccessMode mode) {
        throw new UnsupportedOperationException();
    }

    @Override
    public <T> T getLocal(ContextLocal<T> key, AccessMode mode, Supplier<? extends T> initial) {
        throw new UnsupportedOperationException();
    }

    @Override
    public <T> void putLocal(ContextLocal<T> key, AccessMode mode, T value) {
        throw new UnsupportedOperationException();
    }
}
