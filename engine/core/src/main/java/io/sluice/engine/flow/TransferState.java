package io.sluice.engine.flow;

import io.sluice.engine.transport.Deadline;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The state of a transfer in one word, which every thread changes by compare-and-set unless it has the transfer for
 * itself. So a start, a cancel and the end may happen in any order without a lock, and a new run inherits nothing from
 * the last. Only the poller, or the thread that executes the transfer, ends a run.
 */
abstract class TransferState extends Deadline {
    /** Submitted; the terminal signal has not been given. */
    static final int RUNNING = 1;

    /** A cancel of the run was requested. */
    static final int CANCELLED = 1 << 1;

    /** Ended, but something of it is still posted. */
    static final int UNQUIET = 1 << 2;

    /** Some thread is changing what the next run does. */
    static final int HELD = 1 << 3;

    /** Returned by {@link #askForCancel()} when there is nothing to cancel; no run has this number. */
    static final int NO_RUN = -1;

    private static final int BITS = (1 << 4) - 1;
    // the rest of the word counts the runs, so that a request for one run never affects another
    private static final int ONE_RUN = BITS + 1;
    private static final VarHandle STATE;

    static {
        try {
            STATE = MethodHandles.lookup().findVarHandle(TransferState.class, "state", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile int state;

    // ---- any thread ----

    /** Holds an idle transfer for the calling thread alone; returns false if it runs, or chunks are still posted. */
    final boolean hold() {
        while (true) {
            int current = state;
            if ((current & (RUNNING | UNQUIET | HELD)) != 0) {
                return false;
            }
            if (STATE.compareAndSet(this, current, current | HELD)) {
                return true;
            }
        }
    }

    /** Returns a held transfer, at rest. */
    final void letGo() {
        clear(HELD);
    }

    /** Holds a new transfer, which no other thread knows, for the calling thread. */
    final void holdNew() {
        STATE.set(this, state | HELD);
    }

    /** A held transfer begins its next run; it must then be put into the mailbox, or have been executed. */
    final void beginRun() {
        // no other thread changes it while it is held, and nothing that this thread reads next depends on its
        // visibility
        STATE.setRelease(this, run() + ONE_RUN | RUNNING);
    }

    /** Requests a cancel of the run; returns the run that the poller must be told to cancel, or {@link #NO_RUN}. */
    final int askForCancel() {
        while (true) {
            int current = state;
            if ((current & (RUNNING | CANCELLED)) != RUNNING) {
                return NO_RUN;
            }
            if (STATE.compareAndSet(this, current, current | CANCELLED)) {
                return current & ~BITS;
            }
        }
    }

    /** The number of the latest run. */
    final int run() {
        return state & ~BITS;
    }

    final boolean isRunning() {
        return (state & (RUNNING | HELD)) != 0;
    }

    final boolean isCancelRequested() {
        return (state & CANCELLED) != 0;
    }

    /** Whether this run is running. One read: between two reads a run may end and the next start. */
    final boolean isRunning(int run) {
        int current = state;
        return (current & RUNNING) != 0 && (current & ~BITS) == run;
    }

    /** Whether this run is running and to be cancelled. */
    final boolean isCancelRequested(int run) {
        int current = state;
        return (current & (RUNNING | CANCELLED)) == (RUNNING | CANCELLED) && (current & ~BITS) == run;
    }

    // ---- the poller ----

    /** Ends the run; if it is quiet, another may begin from here on. */
    final void endRun(boolean quiet) {
        if (!quiet) {
            STATE.getAndBitwiseOr(this, UNQUIET);
        }
        clear(RUNNING);
    }

    /** Nothing of the ended run is posted any more. */
    final void rest() {
        clear(UNQUIET);
    }

    final boolean hasEnded() {
        return (state & RUNNING) == 0;
    }

    private void clear(int bits) {
        STATE.getAndBitwiseAnd(this, ~bits);
    }
}
