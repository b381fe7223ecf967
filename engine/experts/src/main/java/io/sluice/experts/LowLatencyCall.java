package io.sluice.experts;

import io.sluice.engine.SluiceException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A call of one kind on one result, one after another. It is sent, and then received; between the two a call with a hook
 * waits for its user. What is not marked otherwise is the loop's.
 *
 * @param <R> the type of the call's result
 */
abstract class LowLatencyCall<R> implements ReceiveHook<R> {
    private static final Logger LOG = LoggerFactory.getLogger(LowLatencyCall.class);

    private static final int IDLE = 0;
    private static final int CALLED = 1;
    private static final int SENDING = 2;
    private static final int HELD = 3;
    private static final int COMPLETING = 4;
    private static final int COMPLETED = 5;
    private static final int RECEIVING = 6;

    private final AtomicInteger state = new AtomicInteger(IDLE);
    private final HookedCalls calls;
    private final ExpertCallKind kind;
    final BufferFigures figures;
    final CallTimes times = new CallTimes();
    private long timeoutNanos;
    private long deadline;
    private @Nullable ExpertCallback<ReceiveHook<R>> whenSent;
    private volatile @Nullable ExpertCallback<R> whenReceived;

    /** Takes calls whose users want to receive. Any thread. */
    interface HookedCalls {
        /** Throws the error with which held calls have ended, if they have. */
        void check();

        void receive(LowLatencyCall<?> call);
    }

    LowLatencyCall(HookedCalls calls, ExpertCallKind kind, BufferFigures figures) {
        this.calls = calls;
        this.kind = kind;
        this.figures = figures;
    }

    // ---- any thread ----

    /** Prepares a call, of which nothing runs. One of the callbacks is null. */
    void called(
            long timeout, @Nullable ExpertCallback<ReceiveHook<R>> sentCallback, @Nullable ExpertCallback<R> callback) {
        timeoutNanos = timeout;
        deadline = System.nanoTime() + timeout;
        times.called();
        whenSent = sentCallback;
        whenReceived = callback;
        state.set(CALLED);
    }

    /** The call is not made after all. */
    void withdrawn() {
        state.set(IDLE);
    }

    @Override
    public void complete(ExpertCallback<R> callback) {
        Objects.requireNonNull(callback, "callback");
        if (!state.compareAndSet(HELD, COMPLETING)) {
            calls.check();
            throw new IllegalStateException("the call is not held by its hook any more");
        }
        whenReceived = callback;
        state.set(COMPLETED);
        calls.receive(this);
    }

    // ---- the loop ----

    long deadline() {
        return deadline;
    }

    boolean isCompleted() {
        return state.get() == COMPLETED;
    }

    /** Whether it waits for its user. */
    boolean isHeld() {
        int now = state.get();
        return now == HELD || now == COMPLETING || now == COMPLETED;
    }

    /** Takes it from its user, to end it; false if the user has completed it, and it is about to be handed over. */
    boolean release() {
        return !isHeld() || state.compareAndSet(HELD, SENDING);
    }

    boolean isReceiving() {
        return state.get() == RECEIVING;
    }

    /** Whether a hook is still to be given to the user. */
    boolean isHooked() {
        return whenSent != null;
    }

    void sends() {
        state.set(SENDING);
    }

    void receives() {
        if (state.get() == COMPLETED) {
            deadline = System.nanoTime() + timeoutNanos;
            times.goesOn();
        }
        state.set(RECEIVING);
    }

    /** All is sent: true if the call is to be received now, false if its hook holds it. */
    boolean sent() {
        ExpertCallback<ReceiveHook<R>> callback = whenSent;
        if (callback == null) {
            return true;
        }
        whenSent = null;
        times.holds();
        state.set(HELD);
        tell(callback, this, null);
        return false;
    }

    /** It has ended; another may be made inside the callback. */
    void end(@Nullable SluiceException error) {
        ExpertCallback<ReceiveHook<R>> sentCallback = whenSent;
        ExpertCallback<R> callback = whenReceived;
        whenSent = null;
        whenReceived = null;
        times.ended(kind, figures, error);
        if (error == null) {
            count(figures.of(kind));
        }
        state.set(IDLE);
        @Nullable R result = ended(error);
        if (sentCallback != null) {
            tell(sentCallback, null, error);
        } else if (callback != null) {
            tell(callback, result, error);
        }
    }

    private static <T> void tell(ExpertCallback<T> callback, @Nullable T result, @Nullable SluiceException error) {
        try {
            callback.ended(result, error);
        } catch (RuntimeException e) {
            LOG.error("the callback of a call on an expert buffer threw an exception", e);
        }
    }

    /** Whether it may be sent now; if not, the buffer is signalled when it may. Called once more after each signal. */
    abstract boolean maySend();

    /** Takes its place among the calls of its kind. */
    abstract void begin(long generation);

    /**
     * Sends a share.
     *
     * @return about how many bytes were moved
     */
    abstract int send(int budget);

    /** Whether all is sent. */
    abstract boolean isSent();

    /** Whether its inputs may change. */
    abstract boolean isReleased();

    /** Whether the part of a rank has arrived; if not, the buffer is signalled when it has. */
    abstract boolean hasArrived(Peer peer);

    /**
     * Receives a share.
     *
     * @return about how many bytes were moved
     */
    abstract int receive(int budget);

    /** Whether all is received. */
    abstract boolean isReceived();

    /** Counts what it has moved, once it has succeeded. */
    abstract void count(CallFigures of);

    /** Lets go of what it has used. Returns the result, or null after an error. */
    abstract @Nullable R ended(@Nullable SluiceException error);
}
