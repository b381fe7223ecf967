package io.sluice.engine.flow;

import io.sluice.engine.transport.Deadline;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * Where a transfer stands, as one word that every thread changes by compare-and-set: so that a start, a cancel, a start event
 * and the end can meet in any order without a lock, and a transfer that is started again has nothing left over from its last
 * run. Only the poller ends a run.
 *
 * <p>A transfer is in its flow's mailbox at most once: who asks for something puts it there only if nobody else has.
 */
abstract class TransferState extends Deadline {
    /** Submitted; the terminal signal has not been given. */
    static final int RUNNING = 1;

    /** In the mailbox. */
    static final int MAILED = 1 << 1;

    /** The mail says that it was submitted. */
    static final int SUBMITTED = 1 << 2;

    /** A cancel was asked for. */
    static final int CANCELLED = 1 << 3;

    /** The event it starts after has happened. */
    static final int EVENT_HAPPENED = 1 << 4;

    /** Ended, but something of it is still posted. */
    static final int UNQUIET = 1 << 5;

    /** Some thread is changing what the next run does. */
    static final int HELD = 1 << 6;

    private static final int BITS = (1 << 7) - 1;
    // the rest of the word counts the runs, so that what was meant for one run is never taken for another
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

    /** Takes a transfer at rest for the calling thread alone; false if it runs, or something of it is still posted. */
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

    /** Gives a held transfer back, at rest. */
    final void letGo() {
        clear(HELD);
    }

    /**
     * A held transfer begins its next run.
     *
     * @return whether it has to be put into the mailbox; it may be there still, from the end of its last run
     */
    final boolean beginRun() {
        int before = (int) STATE.getAndSet(this, nextRun() | RUNNING | MAILED | SUBMITTED);
        return (before & MAILED) == 0;
    }

    /** The run that {@link #beginRun()} begins, as {@link #eventHappened(int)} names it. */
    final int nextRun() {
        return (state & ~BITS) + ONE_RUN;
    }

    /** Asks for the end of the run; true if the transfer has to be put into the mailbox. */
    final boolean askForCancel() {
        while (true) {
            int current = state;
            if ((current & (RUNNING | CANCELLED)) != RUNNING) {
                return false;
            }
            if (STATE.compareAndSet(this, current, current | CANCELLED | MAILED)) {
                return (current & MAILED) == 0;
            }
        }
    }

    /** Tells a run that its event has happened; true if the transfer has to be put into the mailbox. */
    final boolean eventHappened(int run) {
        while (true) {
            int current = state;
            if ((current & ~BITS) != run || (current & (RUNNING | EVENT_HAPPENED)) != RUNNING) {
                return false;
            }
            if (STATE.compareAndSet(this, current, current | EVENT_HAPPENED | MAILED)) {
                return (current & MAILED) == 0;
            }
        }
    }

    final boolean isRunning() {
        return (state & (RUNNING | HELD)) != 0;
    }

    final boolean isCancelRequested() {
        return (state & CANCELLED) != 0;
    }

    // ---- the poller ----

    /** Takes it out of the mailbox; says what stood there. */
    final int takeMail() {
        return clear(MAILED | SUBMITTED);
    }

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

    final boolean hasEventHappened() {
        return (state & EVENT_HAPPENED) != 0;
    }

    private int clear(int bits) {
        return (int) STATE.getAndBitwiseAnd(this, ~bits);
    }
}
