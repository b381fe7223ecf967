package io.sluice.experts;

import io.sluice.engine.SluiceException;
import java.util.concurrent.CompletableFuture;

/** One kind of calls of an expert buffer. The loop's. */
interface BufferPart {
    /** The {@link #deadline} where there is no call. */
    long NEVER = Long.MIN_VALUE;

    /**
     * Does a share of the work.
     *
     * @param budget about how many bytes may be moved, at least 1
     * @return how many were moved; at least the budget if there is more to do at once
     */
    int advance(int budget);

    /** Returns the time at which a call will have exceeded its own, as {@link System#nanoTime()}, or {@link #NEVER}. */
    long deadline();

    /** Returns a rank whose mapped memory is gone, which the end of its connection says later; or -1. */
    int unmapped();

    /** Returns whether a call is under way. */
    boolean isBusy();

    /** A rank is lost or has left the team: it needs nothing more of this rank's memory. */
    void lost(int rank);

    /** Ends all calls: those that are under way, and those that were handed over and not begun. */
    void fail(SluiceException error);

    /**
     * Says to the other ranks that this one makes no more calls.
     *
     * @param closed whether the buffer is closed; else it has failed, for a reason that the other ranks see as well
     */
    void leave(boolean closed);

    /** Returns whether the other ranks need nothing more of this rank's memory; the host is signalled when it may be so. */
    boolean isSettled();

    /** Releases memory. Once, when no call is under way and nothing is in flight. */
    CompletableFuture<Void> close();
}
