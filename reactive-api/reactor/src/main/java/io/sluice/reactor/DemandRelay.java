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
 * <p>It asks the source for no more than the subscriber's demand, and for no more than a limit ahead of what it has
 * handed over; so each item that comes can be handed over at once, and what waits here is bounded by the limit. All
 * that touches the subscriber or the source's demand is done by whichever thread finds no other at it. A source that
 * delivers inside the call that asks it finds its own thread at it, and so never deepens the stack.
 *
 * @param <T> what the subscriber receives
 */
abstract class DemandRelay<T> implements Subscription, Runnable, Scannable {
    /** Items come. */
    private static final int ACTIVE = 0;

    /** The source has nothing more to give but what is on its way. */
    private static final int ENDED = 1;

    /** Something failed, and the source is being stopped. */
    private static final int STOPPING = 2;

    /** The source is stopped; the error goes out after the items that came before it. */
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

    /** How often work was announced since a thread took to it. Starts at 1, as if a thread were at it: see begin. */
    private volatile int work = 1;

    /** How many items the source was asked for. Touched only by the thread at work, as the next field. */
    private long taken;

    private long emitted;

    /**
     * Makes one.
     *
     * @param actual the subscriber
     * @param limit how many items may have been asked for and not handed over, at least 1
     * @param leastTake how many of those must be free before the source is asked for more, if there is demand for them;
     *     at least 1, at most the limit
     * @param worker hands the items over, or {@code null} for whichever thread brings them
     */
    DemandRelay(CoreSubscriber<? super T> actual, int limit, int leastTake, @Nullable Worker worker) {
        this.actual = actual;
        this.limit = limit;
        this.leastTake = leastTake;
        this.worker = worker;
    }

    /** Asks the source for so many items more. They may come at once, inside the call. */
    abstract void take(long count);

    /** How many items the source can still be asked for, if it knows. For the thread at work only. */
    long left() {
        return Long.MAX_VALUE;
    }

    /** Stops the source, and what it has under way. Called at most once. */
    abstract void stop();

    /** Whether all items have come, if the source has ended and so many were handed over. */
    abstract boolean complete(long handedOver);

    /** The end of a source that ended well: an error, or {@code null} for a completion. */
    abstract @Nullable Throwable verdict();

    /** An item is about to be handed over. */
    void emitting(T item) {}

    /** Opens the gate, once the subscriber has its subscription and the source can be asked. Called once. */
    final void begin() {
        schedule();
    }

    /** Whether the source may still be asked and its items are wanted. */
    final boolean isActive() {
        return state == ACTIVE;
    }

    /** Whether items that come now are still wanted. */
    final boolean wantsItems() {
        return state <= ENDED;
    }

    /** Whether the subscriber has cancelled. */
    final boolean isCancelled() {
        return state == CANCELLED;
    }

    /** An item came. */
    final void arrived(T item) {
        arrived.offer(item);
        drain();
    }

    /** The source has nothing more to give but what is on its way. */
    final void ended() {
        if (STATE.compareAndSet(this, ACTIVE, ENDED)) {
            drain();
        }
    }

    /**
     * Stops the source, and ends with an error after the items that have come.
     *
     * @param error the error
     * @return false if the end was decided before
     */
    final boolean fail(Throwable error) {
        if (!FAILURE.compareAndSet(this, null, error) || !stopping()) {
            return false;
        }
        // First the source, then the error: quiescence after the error includes the transfers that were stopped here.
        stop();
        STATE.compareAndSet(this, STOPPING, FAILED);
        drain();
        return true;
    }

    /** As {@link #fail}; an error that comes after the end goes to the hook for such. */
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
                // what arrived, and what still arrives, is discarded by the thread that drains
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
        // after the end there is only something to discard, and the worker is gone
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

    /** The scheduler is gone. This thread is the one at work, and stays it for ever, so it may tell the subscriber. */
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

    /** Does what was announced, until nothing is left. For the thread at work only. */
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
        // What is held back here is below the limit, so an item is under way whose arrival brings the next look.
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
