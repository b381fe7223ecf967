package io.sluice.experts.cuda;

import java.util.concurrent.atomic.AtomicLong;

/**
 * How far the calls with a result's memory are, and of which dispatch it is: each that takes it has a generation, so that what an earlier
 * one closes or starts late changes nothing. One thread starts calls at a time; all else is for any thread.
 */
final class ResultState {
    // what was started last
    private static final int FREE = 0;
    /** Nothing, or a combine in whole. */
    static final int IDLE = 1;

    static final int DISPATCH_SENT = 2;
    static final int DISPATCHED = 3;
    static final int COMBINE_SENT = 4;
    private static final int PHASE = 7;
    // it is free once what is being started, or the second half, was started
    private static final int CLOSING = 8;
    private static final int STARTING = 16;
    private static final int GENERATION_SHIFT = 5;

    private final AtomicLong state = new AtomicLong(FREE);

    /** Takes it, and returns its generation; 0 if it is not free. */
    long take() {
        long now = state.get();
        long generation = (now >>> GENERATION_SHIFT) + 1;
        boolean isFree = (now & PHASE) == FREE;
        return isFree && state.compareAndSet(now, generation << GENERATION_SHIFT | IDLE) ? generation : 0;
    }

    boolean isLive(long generation) {
        long now = state.get();
        return isOf(now, generation) && (now & CLOSING) == 0;
    }

    private static boolean isOf(long now, long generation) {
        return now >>> GENERATION_SHIFT == generation && (now & PHASE) != FREE;
    }

    private static boolean isHalf(int phase) {
        return phase == DISPATCH_SENT || phase == COMBINE_SENT;
    }

    /** Whether a first half was the last that was started. */
    boolean isAt(int half) {
        return (state.get() & PHASE) == half;
    }

    /** Begins to start a dispatch, until {@link #settle}; returns the phase before. */
    int beginDispatch(long generation) {
        return begin(generation, IDLE, DISPATCHED, "");
    }

    /** Begins to start a combine, until {@link #settle}; returns the phase before. */
    int beginCombine(long generation) {
        return begin(generation, DISPATCHED, DISPATCHED, "there is no dispatch, or it was combined already");
    }

    private int begin(long generation, int from, int orFrom, String otherwise) {
        while (true) {
            long now = state.get();
            int phase = (int) now & PHASE;
            if (!isOf(now, generation) || (now & CLOSING) != 0) {
                throw new IllegalStateException("the result is closed");
            }
            if (isHalf(phase)) {
                throw new IllegalStateException("the second half of the call before was not started");
            }
            if (phase != from && phase != orFrom) {
                throw new IllegalStateException(otherwise);
            }
            if (begins(now)) {
                return phase;
            }
        }
    }

    /** Begins to start a second half, also of what is closed, until {@link #settle}. */
    void beginReceive(long generation, int half) {
        long now;
        do {
            now = state.get();
            if (!isOf(now, generation) || (now & PHASE) != half) {
                throw new IllegalStateException("there is no first half, or its second half was started already");
            }
        } while (!begins(now));
    }

    private boolean begins(long now) {
        if ((now & STARTING) != 0) {
            throw new IllegalStateException("two threads start calls of an expert buffer at the same time");
        }
        return state.compareAndSet(now, now | STARTING);
    }

    /** A start has ended: the phase is the next one, or the one before if it was refused. */
    void settle(int phase) {
        long now;
        long next;
        do {
            now = state.get();
            boolean isFree = (now & CLOSING) != 0 && !isHalf(phase);
            next = (now & ~(PHASE | STARTING)) | phase;
            next = isFree ? next & ~(PHASE | CLOSING) : next;
        } while (!state.compareAndSet(now, next));
    }

    /** Frees it, at once or when it is through with a half or a start. Later work follows in the stream what was started. */
    void close(long generation) {
        long now;
        long next;
        do {
            now = state.get();
            if (!isOf(now, generation)) {
                return;
            }
            boolean isUnderWay = isHalf((int) now & PHASE) || (now & STARTING) != 0;
            next = isUnderWay ? now | CLOSING : now & ~PHASE;
        } while (!state.compareAndSet(now, next));
    }
}
