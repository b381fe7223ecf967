package io.sluice.experts;

import io.sluice.engine.SluiceException;
import java.util.concurrent.CompletableFuture;

/** One kind of calls of an expert buffer. All but {@link #close} is the loop's. */
interface BufferPart {
    /**
     * Does a share of the work.
     *
     * @param budget about how many bytes may be moved, at least 1
     * @return how many were moved; at least the budget if there is more to do at once
     */
    int advance(int budget);

    /** Returns the time at which a call will have exceeded its own, as {@link System#nanoTime()}; or that of none. */
    long deadline();

    /** Returns whether a call is under way. */
    boolean isBusy();

    /** Ends all calls: those that have been made, and those that were handed over and not begun. */
    void fail(SluiceException error);

    /** Releases memory. Once, when no call is under way and nothing is in flight. */
    CompletableFuture<Void> close();
}
