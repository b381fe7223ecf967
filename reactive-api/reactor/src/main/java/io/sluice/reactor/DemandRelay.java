package io.sluice.reactor;

import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.Scannable;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler.Worker;
import reactor.util.concurrent.Queues;

/**
 * Takes items from a source that several threads may serve and hands them to one subscriber, one at a time.
 *
 * <p>It requests no more from the source than the subscriber's demand, and at most a limit ahead of the items emitted;
 * so each arriving item can be emitted immediately, and the limit bounds what waits here. All work on the subscriber
 * and the source's demand is done by the first thread that finds no other doing it (the working thread). A source that
 * delivers inside a request finds its own thread working, so it never deepens the stack.
 *
 * @param <T> what the subscriber receives
 */
abstract class DemandRelay<T> implements Subscription, Runnable, Scannable {
    /** Items may arrive. */
    private static final int ACTIVE = 0;

    /** The source has ended; items in flight may still arrive. */
    private static final int ENDED = 1;

    /** An error occurred and the source is being stopped. */
    private static final int STOPPING = 2;

    /** The source is stopped; the error follows the items that arrived before it. */
    private static final int FAILED = 3;

    /** The terminal signal was given. */
    private static final int TERMINATED = 4;

    /** Nothing more goes downstream. */
    private static final int CANCELLED = 5;

    @SuppressWarnings("rawtypes")
    private static final AtomicIntegerFieldUpdater<DemandRelay> STATE =
            AtomicIntegerFieldUpdater.newUpdater(DemandRelay.class, "state");

    @SuppressWarnings("rawtypes")
    private static final AtomicIntegerFieldUpdater<DemandRelay> WORK =
            AtomicIntegerFieldUpdater.newUpdater(DemandRelay.class, "work");

    @SuppressWarnings("rawtypes")
    private static final AtomicLongFieldUpdater<DemandRelay> REQUESTED =
            AtomicLongFieldUpdater.newUpdater(DemandRelay.class, "requested");

    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<DemandRelay, @Nullable Throwable> FAILURE =
            AtomicReferenceFieldUpdater.newUpdater(DemandRelay.class, Throwable.class, "failure");

    final CoreSubscriber<? super T> actual;
    private final int limit;
    private final int leastTake;
    private final @Nullable Worker worker;
    private final Queue<T> arrived = Queues.<T>unboundedMultiproducer().get();

    private volatile int state;
    private volatile long requested;
    private volatile @Nullable Throwable failure;

    /**
     * How often work was announced since a thread began to work. Starts at 1, as if a thread were working: see begin.
     */
    private volatile int work = 1;

    /** How many items were requested from the source. Like the next field, used only by the working thread. */
    private long taken;

    private long emitted;

    /**
     * Creates a relay.
     *
     * @param actual the subscriber
     * @param limit the most items requested and not emitted, at least 1
     * @param leastTake how many of those must be free before more are requested, if there is demand; 1 to the limit
     * @param worker emits the items, or {@code null} for the threads that deliver them
     */
    DemandRelay(CoreSubscriber<? super T> actual, int limit, int leastTake, @Nullable Worker worker) {
        this.actual = actual;
        this.limit = limit;
        this.leastTake = leastTake;
        this.worker = worker;
    }

    /** Requests more items from the source. They may arrive inside the call. */
    abstract void take(long count);

    /** Returns how many items the source still has, if it knows. Only for the working thread. */
    long left() {
        return Long.MAX_VALUE;
    }

    /** Stops the source and its work in flight. Called at most once. */
    abstract void stop();

    /** Whether all items have arrived, given the number emitted and that the source has ended. */
    abstract boolean complete(long handedOver);

    /** Returns the terminal signal after a normal end of the source: an error, or {@code null} for a completion. */
    abstract @Nullable Throwable verdict();

    /** Called before an item is emitted. */
    void emitting(T item) {}

    /** Starts the work, once the subscriber has its subscription and the source can be requested from. Called once. */
    final void begin() {
        schedule();
    }

    /** Whether items may still be requested and are wanted. */
    final boolean isActive() {
        return state == ACTIVE;
    }

    /** Whether items that arrive now are still wanted. */
    final boolean wantsItems() {
        return state <= ENDED;
    }

    /** Whether the subscriber has cancelled. */
    final boolean isCancelled() {
        return state == CANCELLED;
    }

    /** Called when an item arrives. */
    final void arrived(T item) {
        arrived.offer(item);
        drain();
    }

    /** Called when the source has ended; items in flight may still arrive. */
    final void ended() {
        if (STATE.compareAndSet(this, ACTIVE, ENDED)) {
            drain();
        }
    }

    /**
     * Stops the source and ends with an error after the items that have arrived.
     *
     * @param error the error
     * @return false if the end was already decided
     */
    final boolean fail(Throwable error) {
        if (!FAILURE.compareAndSet(this, null, error) || !stopping()) {
            return false;
        }
        // First stop the source, then signal the error: quiescence after the error must include the transfers stopped
        // here.
        stop();
        STATE.compareAndSet(this, STOPPING, FAILED);
        drain();
        return true;
    }

    /** Does the same as {@link #fail}; an error after the end goes to the hook for dropped errors. */
    final void failOrDrop(Throwable error) {
        if (!fail(error)) {
            Operators.onErrorDropped(error, actual.currentContext());
        }
    }

    private boolean stopping() {
        for (int now = state; now < STOPPING; now = state) {
            if (STATE.compareAndSet(this, now, STOPPING)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public final void request(long n) {
        if (n <= 0) {
            fail(Exceptions.nullOrNegativeRequestException(n));
        } else {
            Operators.addCap(REQUESTED, this, n);
            drain();
        }
    }

    @Override
    public final void cancel() {
        for (int now = state; now < TERMINATED; now = state) {
            if (STATE.compareAndSet(this, now, CANCELLED)) {
                if (now <= ENDED) {
                    stop();
                }
                drop();
                // the working thread discards items that arrived or still arrive
                if (WORK.getAndIncrement(this) == 0) {
                    run();
                }
                return;
            }
        }
    }

    private void drain() {
        if (WORK.getAndIncrement(this) == 0) {
            schedule();
        }
    }

    private void schedule() {
        // after the end items can only be discarded, and the worker is gone
        if (worker == null || state >= TERMINATED) {
            run();
            return;
        }
        try {
            worker.schedule(this);
        } catch (RejectedExecutionException rejected) {
            rejected(rejected);
        }
    }

    /** The scheduler rejects tasks. This thread is the working thread and stays it, so it may signal the subscriber. */
    private void rejected(RejectedExecutionException rejected) {
        if (stopping()) {
            stop();
        }
        for (int now = state; now < TERMINATED; now = state) {
            if (STATE.compareAndSet(this, now, TERMINATED)) {
                discardArrived();
                actual.onError(Operators.onRejectedExecution(rejected, actual.currentContext()));
                return;
            }
        }
        discardArrived();
    }

    /** Does the announced work until none is left. Only for the working thread. */
    @Override
    public final void run() {
        int announced = work;
        do {
            handOver();
            takeMore();
            announced = WORK.addAndGet(this, -announced);
        } while (announced != 0);
    }

    private void handOver() {
        while (true) {
            // Read before the queue: an empty queue after an end is an end.
            int now = state;
            if (now >= TERMINATED) {
                discardArrived();
                return;
            }
            T item = arrived.poll();
            if (item != null) {
                emitted++;
                emitting(item);
                actual.onNext(item);
            } else if (now == FAILED || (now == ENDED && complete(emitted))) {
                terminate(now);
                return;
            } else {
                return;
            }
        }
    }

    private void terminate(int from) {
        Throwable error = from == FAILED ? failure : verdict();
        if (!STATE.compareAndSet(this, from, TERMINATED)) {
            return;
        }
        if (error == null) {
            actual.onComplete();
        } else {
            actual.onError(error);
        }
        drop();
    }

    private void takeMore() {
        long wanted = Math.min(requested - taken, left());
        long more = Math.min(limit - (taken - emitted), wanted);
        // Fewer items than the limit are held back here, so another is in flight, and its arrival leads here again.
        if (more > 0 && (more >= leastTake || more == wanted) && state == ACTIVE) {
            taken += more;
            take(more);
        }
    }

    private void discardArrived() {
        for (T item = arrived.poll(); item != null; item = arrived.poll()) {
            Operators.onDiscard(item, actual.currentContext());
        }
    }

    private void drop() {
        if (worker != null) {
            worker.dispose();
        }
    }

    @Override
    @SuppressWarnings("rawtypes")
    public @Nullable Object scanUnsafe(Attr key) {
        if (key.equals(Attr.ACTUAL)) {
            return actual;
        }
        if (key.equals(Attr.TERMINATED)) {
            return state == TERMINATED;
        }
        if (key.equals(Attr.CANCELLED)) {
            return state == CANCELLED;
        }
        if (key.equals(Attr.ERROR)) {
            return failure;
        }
        if (key.equals(Attr.REQUESTED_FROM_DOWNSTREAM)) {
            return requested;
        }
        if (key.equals(Attr.PREFETCH) || key.equals(Attr.CAPACITY)) {
            return limit;
        }
        if (key.equals(Attr.RUN_STYLE)) {
            return Attr.RunStyle.ASYNC;
        }
        return null;
    }
}
