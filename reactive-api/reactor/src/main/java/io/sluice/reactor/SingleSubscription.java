package io.sluice.reactor;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Exceptions;
import reactor.core.Scannable;

/**
 * One subscriber's run of something that ends once. The work starts at the first demand. Completion, error, cancel and
 * a bad request may race; one field decides, so that exactly one of them wins and the subscriber sees at most one
 * terminal signal.
 *
 * @param <T> what the subscriber receives
 */
abstract class SingleSubscription<T> implements Subscription, Scannable {
    /** Nothing was asked for yet, so nothing was started. */
    private static final int IDLE = 0;

    /** The work is being started; a cancel now leaves it to the starter to undo it. */
    private static final int STARTING = 1;

    /** The work goes on. */
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

    /** Gives up work that is running, as its result is no longer wanted. Called at most once. */
    abstract void abandon();

    /** Gives the result to the subscriber. */
    void handOver(T value) {
        actual.onNext(value);
    }

    /** A cancel came while the result was being handed over. */
    void cancelledWhileHandedOver() {}

    /** A cancel came after an earlier cancel or after the end, and changes nothing here. */
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
     * The work has started and can be abandoned from now on.
     *
     * @return false if it was cancelled meanwhile, and the caller has to abandon it
     */
    final boolean running() {
        // looked at first, as work that has ended by now is usual where the caller's thread does it
        return (state == STARTING && STATE.compareAndSet(this, STARTING, RUNNING)) || state != CANCELLED;
    }

    /**
     * The work has ended well.
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
     * The work has ended with an error.
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

    /** The state that was left, or -1 if the outcome is decided already. */
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
