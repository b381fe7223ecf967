package io.sluice.vertx;

import io.sluice.engine.TransferEngine;
import io.vertx.core.Context;
import io.vertx.core.Handler;
import io.vertx.core.streams.ReadStream;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Takes items from a source with any number of threads and passes them to one handler on one context, one at a time.
 *
 * <p>Requests no more from the source than was fetched, and no more than a limit ahead of the handler, which bounds the
 * queue here. Starts when a handler is set, and stops its source when the handler is removed.
 */
abstract class DemandStream<T> implements ReadStream<T> {
    private final Context context;
    private final int limit;
    private final Queue<T> arrived = new ArrayDeque<>();
    private final Handler<Void> task = nothing -> run();
    private final Runnable wake = this::wake;

    // everything below is guarded by this object; handlers and the source are called without the lock
    private long demand = Long.MAX_VALUE;
    private long outstanding;
    private boolean begun;
    private boolean stopped;
    private boolean sourceEnded;
    private boolean told;
    private boolean scheduled;
    private boolean handing;
    private @Nullable Throwable failure;
    private @Nullable Handler<T> handler;
    private @Nullable Handler<Void> endHandler;
    private @Nullable Handler<Throwable> exceptionHandler;

    /**
     * Creates a stream that has not started.
     *
     * @param context the context of the handlers
     * @param limit the most items requested from the source ahead of the handler
     */
    DemandStream(Context context, int limit) {
        this.context = context;
        this.limit = limit;
    }

    /** Subscribes to the source, which emits nothing before it is requested. On the context. */
    abstract void begin();

    /** Requests more items from the source. On the context; items may arrive inside the call. */
    abstract void request(long count);

    /** Cancels the source. Called at most once, and not after the source has ended. */
    abstract void stop();

    /**
     * Returns the error to end with after the source has ended and all items were handled; {@code null} for success.
     */
    @Nullable
    Throwable verdict() {
        return null;
    }

    /** An item is about to be handled. On the context. */
    void handing(T item) {}

    /** An item arrived after the end of the stream. */
    void unwanted(T item) {}

    @Override
    public final DemandStream<T> handler(@Nullable Handler<T> itemHandler) {
        boolean stopping;
        synchronized (this) {
            handler = itemHandler;
            stopping = itemHandler == null && begun && !stopped && !sourceEnded;
            stopped |= itemHandler == null && begun;
        }
        if (stopping) {
            stop();
            discard();
        } else {
            schedule();
        }
        return this;
    }

    @Override
    public final synchronized DemandStream<T> pause() {
        demand = 0;
        return this;
    }

    @Override
    public final DemandStream<T> resume() {
        return fetch(Long.MAX_VALUE);
    }

    @Override
    public final DemandStream<T> fetch(long amount) {
        if (amount < 0) {
            throw new IllegalArgumentException("amount must be at least 0, not " + amount);
        }
        synchronized (this) {
            demand = demand + amount < 0 ? Long.MAX_VALUE : demand + amount;
        }
        schedule();
        return this;
    }

    @Override
    public final synchronized DemandStream<T> endHandler(@Nullable Handler<Void> endedHandler) {
        endHandler = endedHandler;
        return this;
    }

    @Override
    public final synchronized DemandStream<T> exceptionHandler(@Nullable Handler<Throwable> failureHandler) {
        exceptionHandler = failureHandler;
        return this;
    }

    /** A requested item arrived. Any thread. */
    final void arrived(T item) {
        boolean wanted;
        synchronized (this) {
            wanted = !stopped && !told;
            if (wanted) {
                arrived.add(item);
            }
        }
        if (wanted) {
            schedule();
        } else {
            unwanted(item);
        }
    }

    /** The source has ended. Any thread; a second call has no effect. */
    final void finish(@Nullable Throwable error) {
        synchronized (this) {
            if (sourceEnded) {
                return;
            }
            sourceEnded = true;
            failure = error;
        }
        schedule();
    }

    /** Ends the stream from this side, as an error of the source after the items so far. Any thread. */
    final void endNow(@Nullable Throwable error) {
        boolean stopping;
        synchronized (this) {
            if (sourceEnded) {
                return;
            }
            stopping = begun && !stopped;
            sourceEnded = true;
            failure = error;
        }
        if (stopping) {
            stop();
        }
        schedule();
    }

    /** The client was closed. */
    void clientClosed() {
        endNow(null);
    }

    /** The number of items that have arrived but were not handled. */
    final synchronized int waiting() {
        return arrived.size();
    }

    /** Drops queued items that are not needed any more. */
    final synchronized void dropIf(Predicate<? super T> useless) {
        arrived.removeIf(useless);
    }

    private void schedule() {
        synchronized (this) {
            if (scheduled || handing || (handler == null && !begun)) {
                return;
            }
            scheduled = true;
        }
        TransferEngine.atEndOfCycle(wake);
    }

    private void wake() {
        try {
            context.runOnContext(task);
        } catch (RejectedExecutionException closed) {
            gone();
        }
    }

    /** The context accepts no more work, so no handler can be called. */
    private void gone() {
        boolean stopping;
        synchronized (this) {
            stopping = begun && !stopped && !sourceEnded;
            stopped = true;
        }
        if (stopping) {
            stop();
        }
        discard();
    }

    private void discard() {
        while (true) {
            T item;
            synchronized (this) {
                item = arrived.poll();
            }
            if (item == null) {
                return;
            }
            unwanted(item);
        }
    }

    /** Handles items and requests more, until nothing is left to do. */
    private void run() {
        synchronized (this) {
            scheduled = false;
            if (handing) {
                return;
            }
            handing = true;
        }
        boolean whole = false;
        try {
            while (step()) {
                // step by step, because a handler may change everything
            }
            whole = true;
        } finally {
            if (!whole) {
                // a handler threw, which the context reports; the rest continues
                synchronized (this) {
                    handing = false;
                }
                schedule();
            }
        }
    }

    /** Executes one step, or leaves the loop if there is none. */
    private boolean step() {
        boolean beginning = false;
        long more = 0;
        T item = null;
        Handler<T> toItem = null;
        Handler<Void> toEnd = null;
        Handler<Throwable> toFailure = null;
        Throwable error = null;
        boolean ending = false;
        synchronized (this) {
            if (stopped || told || handler == null) {
                handing = false;
                return false;
            }
            if (!begun && !sourceEnded) {
                begun = true;
                beginning = true;
            } else if (demand > 0 && !arrived.isEmpty()) {
                item = arrived.poll();
                toItem = handler;
                outstanding--;
                demand -= demand == Long.MAX_VALUE ? 0 : 1;
            } else if (sourceEnded && arrived.isEmpty()) {
                told = true;
                ending = true;
                error = failure == null ? verdict() : failure;
                toEnd = endHandler;
                toFailure = exceptionHandler;
            } else {
                more = sourceEnded ? 0 : Math.min(demand, limit) - outstanding;
                if (more <= 0) {
                    handing = false;
                    return false;
                }
                outstanding += more;
            }
        }
        if (beginning) {
            begin();
        } else if (item != null && toItem != null) {
            handing(item);
            toItem.handle(item);
        } else if (ending) {
            tell(error, toEnd, toFailure);
        } else {
            request(more);
        }
        return true;
    }

    private static void tell(
            @Nullable Throwable error, @Nullable Handler<Void> toEnd, @Nullable Handler<Throwable> toFailure) {
        if (error == null) {
            if (toEnd != null) {
                toEnd.handle(null);
            }
        } else if (toFailure != null) {
            toFailure.handle(error);
        } else if (error instanceof RuntimeException unheard) {
            // without a handler, the context gets the error
            throw unheard;
        }
    }
}
