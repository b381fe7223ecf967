package io.sluice.vertx;

import io.sluice.engine.InFlightWindow;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.streams.WriteStream;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * Transfers each written item. Full when its operations or bytes in flight fill the connection's in-flight window, and
 * drained at half of that.
 */
final class WindowedWriteStream<T> implements WriteStream<T> {
    private final ContextMailbox mailbox;
    private final long mostBytes;
    private final ToLongFunction<T> length;
    private final Function<T, Future<?>> submission;

    // all guarded by this object; handlers are called without the lock
    private int mostOperations;
    private int operations;
    private long bytes;
    private boolean full;
    private @Nullable Promise<Void> ending;
    private @Nullable Throwable firstError;
    private @Nullable Handler<Void> drainHandler;
    private @Nullable Handler<Throwable> exceptionHandler;

    /**
     * Creates an empty stream.
     *
     * @param length the length of an item in bytes
     * @param submission starts the transfer of an item; never called concurrently
     */
    WindowedWriteStream(
            ContextMailbox mailbox,
            InFlightWindow window,
            ToLongFunction<T> length,
            Function<T, Future<?>> submission) {
        this.length = length;
        this.submission = submission;
        this.mailbox = mailbox;
        this.mostOperations = window.operationLimit();
        this.mostBytes = window.byteLimit();
    }

    @Override
    public Future<Void> write(T item) {
        long size = length.applyAsLong(item);
        Future<?> transfer;
        synchronized (this) {
            if (ending != null) {
                return mailbox.failed(new IllegalStateException("the stream has ended; make another to write more"));
            }
            operations++;
            bytes += size;
            full |= isFull();
            // under the lock, so that concurrent writes do not overlap; no transfer ends inside this call
            transfer = begun(item);
        }
        return transfer.<Void>mapEmpty().onComplete(result -> ended(size, result.cause()));
    }

    /** An item whose transfer cannot start no longer counts. */
    private Future<?> begun(T item) {
        try {
            return submission.apply(item);
        } catch (RuntimeException mistake) {
            return mailbox.failed(mistake);
        }
    }

    @Override
    public Future<Void> end() {
        Promise<Void> end = Promise.promise();
        boolean now;
        synchronized (this) {
            if (ending != null) {
                return mailbox.failed(new IllegalStateException("the stream has ended; make another to write more"));
            }
            ending = end;
            now = operations == 0;
        }
        if (now) {
            complete(end);
        }
        return mailbox.whenEnded(end.future().toCompletionStage());
    }

    /** The most operations in flight before the stream is full; at most as many as the window holds. */
    @Override
    public synchronized WindowedWriteStream<T> setWriteQueueMaxSize(int maxSize) {
        if (maxSize < 1) {
            throw new IllegalArgumentException("maxSize must be at least 1, not " + maxSize);
        }
        mostOperations = maxSize;
        full |= isFull();
        return this;
    }

    @Override
    public synchronized boolean writeQueueFull() {
        return isFull();
    }

    @Override
    public WindowedWriteStream<T> drainHandler(@Nullable Handler<Void> handler) {
        boolean drainedAlready;
        synchronized (this) {
            drainHandler = handler;
            drainedAlready = handler != null && !isFull();
        }
        if (drainedAlready) {
            // a writer that has just seen the stream full would wait forever
            later(this::callDrainHandler);
        }
        return this;
    }

    /** A write completes on its caller's context; handlers are called on the stream's context, usually the same. */
    private void onContext(Runnable call) {
        if (mailbox.context().equals(Vertx.currentContext())) {
            call.run();
        } else {
            later(call);
        }
    }

    private void later(Runnable call) {
        try {
            mailbox.context().runOnContext(nothing -> call.run());
        } catch (RejectedExecutionException closed) {
            // the context calls no handlers any more
        }
    }

    @Override
    public synchronized WindowedWriteStream<T> exceptionHandler(@Nullable Handler<Throwable> handler) {
        exceptionHandler = handler;
        return this;
    }

    private boolean isFull() {
        return operations >= mostOperations || bytes >= mostBytes;
    }

    private void ended(long size, @Nullable Throwable error) {
        Handler<Throwable> toFailure;
        Promise<Void> end;
        boolean drained;
        synchronized (this) {
            operations--;
            bytes -= size;
            drained = full && operations <= mostOperations / 2 && bytes <= mostBytes / 2;
            full &= !drained;
            firstError = firstError == null ? error : firstError;
            toFailure = exceptionHandler;
            end = operations == 0 ? ending : null;
        }
        if (error != null && toFailure != null) {
            onContext(() -> toFailure.handle(error));
        }
        if (drained) {
            onContext(this::callDrainHandler);
        }
        if (end != null) {
            complete(end);
        }
    }

    private void callDrainHandler() {
        Handler<Void> handler;
        synchronized (this) {
            handler = isFull() ? null : drainHandler;
        }
        if (handler != null) {
            handler.handle(null);
        }
    }

    private void complete(Promise<Void> end) {
        Throwable error;
        synchronized (this) {
            error = firstError;
        }
        if (error == null) {
            end.tryComplete();
        } else {
            end.tryFail(error);
        }
    }
}
