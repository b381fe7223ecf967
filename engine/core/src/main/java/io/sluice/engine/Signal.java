package io.sluice.engine;

import java.util.concurrent.CompletableFuture;

/**
 * A 64-bit counter in a region of this engine, in the host's byte order, that peers add to and this side waits for.
 * Obtained from {@link MemoryRegion#signal(long)}; a counter may have any number of these views. All methods may be
 * called from any thread.
 */
public interface Signal {
    /**
     * Returns the region or slice that holds the counter.
     *
     * @return the one on which {@link MemoryRegion#signal(long)} was called
     */
    MemoryRegion region();

    /**
     * Returns the counter's offset.
     *
     * @return bytes from the start of {@link #region()}
     */
    long offset();

    /**
     * Returns the current value. A reader of the value sees everything that precedes the updates that led to it.
     *
     * @return the value
     * @throws RegionClosedException if the region is closed
     */
    long value();

    /**
     * Sets the value, for instance back to zero before the next round, and wakes waiters.
     *
     * @param value the new value
     * @throws RegionClosedException if the region is closed
     * @throws IllegalStateException if the region's atomic domain is {@link AtomicDomain#NETWORK_ADAPTER}
     */
    void set(long value);

    /**
     * Adds to the value, atomically with respect to the peers' updates, and wakes waiters.
     *
     * @param addend what to add
     * @return the previous value
     * @throws RegionClosedException if the region is closed
     * @throws IllegalStateException if the region's atomic domain is {@link AtomicDomain#NETWORK_ADAPTER}
     */
    long add(long addend);

    /**
     * Waits, without a thread, until the value reaches a minimum. Updates by signals, atomic operations and this
     * interface wake a waiter; bytes written over the counter do not. A wait costs little and has no time limit: cancel
     * it ({@link CompletableFuture#cancel}) or bound it ({@link CompletableFuture#orTimeout}) if the update may never
     * come.
     *
     * @param value the minimum
     * @return the value that was seen; completes on the thread that made the update, usually a poller's, or inside this
     *     call; {@link RegionClosedException} if the region closes first
     */
    CompletableFuture<Long> awaitAtLeast(long value);

    /**
     * Returns a wait that can be armed any number of times and calls back on a loop. Unlike {@link #awaitAtLeast} it
     * allocates nothing for each wait. It is meant for stages that process on the loop what peers write and signal. The
     * same updates wake it.
     *
     * @param value the minimum with which the wait is armed initially
     * @param loop the loop that runs the callback, usually {@link Connection#loop()} of the connection that brings the
     *     updates
     * @param callback called once for each arming, on the loop's thread, never inside this call
     * @return the wait, to be {@linkplain SignalWait#arm armed} again, and closed when it is no longer needed
     * @throws IllegalArgumentException if the loop does not belong to a Sluice engine
     */
    SignalWait onAtLeast(long value, EngineLoop loop, SignalCallback callback);
}
