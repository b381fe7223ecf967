package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/**
 * The thread that drives a connection, for stages that stand above the engine: code that reduces, decodes or forwards what has
 * arrived, and has to take turns with the connection's own work without a thread of its own. Got from
 * {@link Connection#loop()}; connections of one {@link LoopGroup} have one loop, and a loop may serve other connections as
 * well. Tasks must not block, as {@link TransferCallback}s must not; Reactor knows the thread as non-blocking. All
 * methods may be called from any thread.
 */
public interface EngineLoop {
    /**
     * Whether the calling thread is the loop's.
     *
     * @return true in tasks, sources and callbacks of this loop
     */
    boolean inLoop();

    /**
     * Runs a task once in the next duty cycle, or in this one if the loop has not come to its tasks yet, and not inside
     * this call. Tasks of one thread run in their order. An exception of a task is logged. A task that was accepted
     * runs also if the engine closes meanwhile; when the loop's thread has ended by then, on the thread that handed it
     * over, inside the call.
     *
     * @param task must not block
     * @throws ConnectionClosedException if the engine is closed, or the loop has failed
     */
    void execute(Runnable task);

    /**
     * Adds a source of work. It is polled once in each duty cycle while it has work, at first at once; without work it costs
     * nothing, and the loop may park, until {@link SourceHandle#signal()}.
     *
     * @param source what to poll
     * @param budget the most work that one poll may do, at least 1, in units of the source's own such as messages or KiB; as
     *     much as takes some tens of microseconds, as all connections of the loop wait meanwhile
     * @return what to signal and remove it with
     * @throws IllegalArgumentException if the budget is less than 1
     * @throws ConnectionClosedException if the engine is closed, or the loop has failed
     */
    SourceHandle addSource(Source source, int budget);

    /** Bounded work that the loop does a share of in each duty cycle. Called on the loop's thread. */
    @FunctionalInterface
    interface Source {
        /**
         * Does a share of the work. A source that does more than its budget, or takes longer than
         * {@link EngineOptions#stallThreshold()}, is reported as a callback that stalls the poller is: it counts among
         * {@link PollerMetrics#stalls()}, goes to the {@link EngineObserver}, and is logged with its name, by
         * {@link Object#toString()}. One that throws is logged and removed.
         *
         * @param budget the most that may be done, as given to {@link #addSource}
         * @return how much was done: the whole budget, and it is polled again in the next cycle; or less, which says that
         *     there is nothing left, and it is not polled before it is signalled
         */
        int poll(int budget);

        /**
         * It was removed and will not be polled any more. Called exactly once.
         *
         * @param cause {@code null} after {@link SourceHandle#close()}; {@link ConnectionClosedException} if the engine closes
         *     or the loop fails; else what the source has thrown
         */
        default void removed(@Nullable Throwable cause) {}
    }

    /** A source that was added. Any thread. */
    interface SourceHandle extends AutoCloseable {
        /**
         * There is work: the source is polled at least once from now on, and sees what this thread did before. Costs little,
         * allocates nothing, and wakes a parked loop. Does nothing once the source is removed.
         */
        void signal();

        /** Removes the source; at once if called in the loop, else soon. A second call does nothing. */
        @Override
        void close();
    }
}
