package io.sluice.reactor;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.Scannable;

/**
 * The subscription of one subscriber to work that ends once. The work starts at the first demand. Completion, error,
 * cancel and a bad request may race; one field decides which wins, so that the subscriber sees at most one terminal
 * signal.
 *
 * @param <T> what the subscriber receives
 */
abstract class SingleSubscription<T> implements Subscription, Scannable {
    /** Nothing has been requested, so the work has not started. */
    private static final int IDLE = 0;

    /** The work is being started; after a cancel the starting thread abandons it. */
    private static final int STARTING = 1;

    /** The work is running. */
    private static final int RUNNING = 2;

    /** The result is being handed over; a cancel can still suppress the completion after it. */
    private static final int EMITTING = 3;

    /** The terminal signal was given. */
    private static final int TERMINATED = 4;

    /** Nothing more goes downstream. */
    private static final int CANCELLED = 5;

    @SuppressWarnings("rawtypes")
    private static final AtomicIntegerFieldUpdater<SingleSubscription> STATE =
            AtomicIntegerFieldUpdater.newUpdater(SingleSubscription.class, "state");

    final CoreSubscriber<? super T> actual;
    private volatile int state;

    SingleSubscription(CoreSubscriber<? super T> actual) {
        this.actual = actual;
    }

    /** Starts the work, and calls {@link #running()} once it can be abandoned. Called at most once. */
    abstract void start();

    /** Abandons running work whose result is no longer wanted. Called at most once. */
    abstract void abandon();

    /** Emits the result to the subscriber. */
    void handOver(T value) {
        actual.onNext(value);
    }

    /** Called when a cancel arrives while the result is handed over. */
    void cancelledWhileHandedOver() {}

    /** Called when a cancel arrives after an earlier cancel or after the end; it changes nothing here. */
    void cancelledAfterTheEnd() {}

    @Override
    public final void request(long n) {
        if (n <= 0) {
            refuse(n);
        } else if (STATE.compareAndSet(this, IDLE, STARTING)) {
            start();
        }
    }

    @Override
    public final void cancel() {
        for (int now = state; now < TERMINATED; now = state) {
            if (STATE.compareAndSet(this, now, CANCELLED)) {
                if (now == RUNNING) {
                    abandon();
                } else if (now == EMITTING) {
                    cancelledWhileHandedOver();
                }
                return;
            }
        }
        cancelledAfterTheEnd();
    }

    /**
     * Says that the work has started and can be abandoned from now on.
     *
     * @return false if it was cancelled meanwhile, and the caller has to abandon it
     */
    final boolean running() {
        // checked first: work that the calling thread does itself has usually ended by now
        return (state == STARTING && STATE.compareAndSet(this, STARTING, RUNNING)) || state != CANCELLED;
    }

    /**
     * Ends the work with a result.
     *
     * @param value the result, or {@code null} for a completion without one
     * @return false if it is no longer wanted
     */
    final boolean succeed(@Nullable T value) {
        if (leaveFor(EMITTING) < 0) {
            return false;
        }
        if (value != null) {
            handOver(value);
        }
        if (STATE.compareAndSet(this, EMITTING, TERMINATED)) {
            actual.onComplete();
        }
        return true;
    }

    /**
     * Ends the work with an error.
     *
     * @param error the error
     * @return false if it is no longer wanted
     */
    final boolean fail(Throwable error) {
        if (leaveFor(TERMINATED) < 0) {
            return false;
        }
        actual.onError(error);
        return true;
    }

    private void refuse(long n) {
        int left = leaveFor(CANCELLED);
        if (left == RUNNING) {
            abandon();
        }
        if (left >= 0) {
            actual.onError(Exceptions.nullOrNegativeRequestException(n));
        }
    }

    /** Changes the state and returns the previous one, or -1 if the outcome is already decided. */
    private int leaveFor(int next) {
        for (int now = state; now < EMITTING; now = state) {
            if (STATE.compareAndSet(this, now, next)) {
                return now;
            }
        }
        return -1;
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
        if (key.equals(Attr.RUN_STYLE)) {
            return Attr.RunStyle.ASYNC;
        }
        return null;
    }
}
