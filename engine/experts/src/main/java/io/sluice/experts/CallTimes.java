package io.sluice.experts;

import io.sluice.engine.SluiceException;
import org.jspecify.annotations.Nullable;

/** How the time of a call is spent; used again by the next one. The loop's, but for {@link #called}. */
final class CallTimes {
    private static final int NONE = -1;

    private long calledAt;
    private long begunAt;
    private boolean begun;
    private long moving;
    private long held;
    private long heldSince;
    private boolean holding;
    private int awaited = NONE;
    private long awaitedSince;
    private int last = NONE;

    /** A call is made; on the caller's thread. */
    void called() {
        calledAt = System.nanoTime();
        begun = false;
        moving = 0;
        held = 0;
        holding = false;
        awaited = NONE;
        last = NONE;
    }

    /** No earlier call stands before it. May be called again. */
    void begins() {
        if (!begun) {
            begun = true;
            begunAt = System.nanoTime();
        }
    }

    /** It has moved bytes from a time until now. */
    void moved(long since) {
        moving += System.nanoTime() - since;
    }

    /** Its hook holds it until {@link #goesOn}. */
    void holds() {
        holding = true;
        heldSince = System.nanoTime();
    }

    void goesOn() {
        if (holding) {
            holding = false;
            held += System.nanoTime() - heldSince;
        }
    }

    /** It waits, and a rank is one of those that it waits for. */
    void awaits(int rank) {
        if (awaited == NONE) {
            awaitedSince = System.nanoTime();
        }
        awaited = rank;
    }

    /** It does not wait any more. */
    void arrived(BufferFigures figures) {
        if (awaited != NONE) {
            figures.countWait(awaited, System.nanoTime() - awaitedSince);
            last = awaited;
            awaited = NONE;
        }
    }

    /** Counts the call. Before its callback. */
    void ended(ExpertCallKind kind, BufferFigures figures, @Nullable SluiceException error) {
        goesOn();
        arrived(figures);
        if (last != NONE) {
            figures.countLast(last);
        }
        CallFigures of = figures.of(kind);
        long duration = System.nanoTime() - calledAt - held;
        long queued = begun ? begunAt - calledAt : duration;
        of.countTimes(queued, moving, duration - queued - moving);
        if (error == null) {
            of.countSuccess(duration);
        } else {
            of.countFailure();
        }
    }
}
