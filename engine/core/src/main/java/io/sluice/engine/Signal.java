package io.sluice.engine;

import java.util.concurrent.CompletableFuture;

/**
 * A 64-bit counter in a region of this engine, in the host's byte order, that peers add to and this side waits for. Got from
 * {@link MemoryRegion#signal(long)}; any number of these views may stand for the same counter. All methods may be called
 * from any thread.
 */
public interface Signal {
    /**
     * The region or slice it lies in.
     *
     * @return as {@link MemoryRegion#signal(long)} was called on
     */
    MemoryRegion region();

    /**
     * Where it lies.
     *
     * @return bytes from the start of {@link #region()}
     */
    long offset();

    /**
     * The present value. A reader of a value sees everything that precedes the updates that led to it.
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
     * @return the value before
     * @throws RegionClosedException if the region is closed
     * @throws IllegalStateException if the region's atomic domain is {@link AtomicDomain#NETWORK_ADAPTER}
     */
    long add(long addend);

    /**
     * Waits, without a thread, until the value is at least this. Only updates by signals, by atomic operations and by
     * this interface wake a waiter, not bytes that are written over the counter. A wait has no end of its own: it costs
     * little, cancel it ({@link CompletableFuture#cancel}) or bound it ({@link CompletableFuture#orTimeout}) where the
     * peer may never come.
     *
     * @param value the least
     * @return the value that was seen; completes on the thread that made the update, mostly a poller's, or here and now.
     *     {@link RegionClosedException} if the region closes first
     */
    CompletableFuture<Long> awaitAtLeast(long value);

    /**
     * Waits for values on a loop, again and again: what {@link #awaitAtLeast} does once, without allocating anything for each
     * wait. For stages, which let peers write and signal, and work on the loop on what has come. The same updates wake it.
     *
     * @param value the least; the wait is armed with it already
     * @param loop where the callback is called, mostly {@link Connection#loop()} of the connection that brings the updates
     * @param callback called once for each arming, on the loop's thread, never inside this call
     * @return to be {@linkplain SignalWait#arm armed} again; to be closed when it is not needed any more
     * @throws IllegalArgumentException if the loop is not of a Sluice engine
     */
    SignalWait onAtLeast(long value, EngineLoop loop, SignalCallback callback);
}
