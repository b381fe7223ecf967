package io.sluice.engine;

import org.jspecify.annotations.Nullable;

/**
 * The event loop that drives a connection, for stages above the engine: code that reduces, decodes or forwards arrived
 * data, interleaved with the connection's own work and without a thread of its own. Obtained from {@link
 * Connection#loop()}. Connections of one {@link LoopGroup} share a loop, and a loop may serve other connections as
 * well. Like a {@link TransferCallback}, a task must not block; Reactor treats the thread as non-blocking. All methods
 * may be called from any thread.
 */
public interface EngineLoop {
    /**
     * Returns whether the calling thread is the loop's.
     *
     * @return true in tasks, sources and callbacks that run on this loop
     */
    boolean inLoop();

    /**
     * Runs a task once, in the next duty cycle or in the current one if the loop has not run its tasks yet, and never
     * inside this call. Tasks of one thread run in the order of submission. An exception thrown by a task is logged. An
     * accepted task runs even if the engine closes meanwhile; if the loop's thread has ended by then, it runs on the
     * submitting thread, inside this call.
     *
     * @param task the task; must not block
     * @throws ConnectionClosedException if the engine is closed, or the loop has failed
     */
    void execute(Runnable task);

    /**
     * Adds a source of work. It is polled once in each duty cycle while it has work; a new source counts as having
     * work. Without work it costs nothing and the loop may park until {@link SourceHandle#signal()}.
     *
     * @param source the source to poll
     * @param budget the most work that one poll may do, at least 1, in units that the source defines, such as messages
     *     or KiB. All connections of the loop wait meanwhile, so choose what takes some tens of microseconds
     * @return the handle that signals and removes the source
     * @throws IllegalArgumentException if the budget is less than 1
     * @throws ConnectionClosedException if the engine is closed, or the loop has failed
     */
    SourceHandle addSource(Source source, int budget);

    /** A source of work that the loop does in bounded shares. Called on the loop's thread. */
    @FunctionalInterface
    interface Source {
        /**
         * Does a share of the work. A source that exceeds its budget, or takes longer than {@link
         * EngineOptions#stallThreshold()}, is reported like a callback that stalls the poller: it is counted in {@link
         * PollerMetrics#stalls()}, passed to the {@link EngineObserver} and logged under the name that its {@link
         * Object#toString()} returns. A source that throws is logged and removed.
         *
         * @param budget the most work to do, as given to {@link #addSource}
         * @return how much was done. After a full budget the source is polled again in the next cycle; less means that
         *     no work is left, and the source is not polled until it is signalled
         */
        int poll(int budget);

        /**
         * Called exactly once, when the source has been removed and will not be polled again.
         *
         * @param cause {@code null} after {@link SourceHandle#close()}; {@link ConnectionClosedException} if the engine
         *     closes or the loop fails; else the exception that the source threw
         */
        default void removed(@Nullable Throwable cause) {}
    }

    /** A handle of an added source. All methods may be called from any thread. */
    interface SourceHandle extends AutoCloseable {
        /**
         * Says that there is work: the source is polled at least once more, and sees what this thread did before the
         * call. Cheap, allocates nothing, and wakes a parked loop. Does nothing once the source is removed.
         */
        void signal();

        /**
         * Says that there may be work at a time, for a source that looks at something that cannot signal it, such as a
         * word that a device stores: the source is polled once more at that time or soon after it, and the loop may
         * park until then. A further call moves the time. Allocates nothing. Does nothing once the source is removed.
         *
         * @param nanoTime the time, as {@link System#nanoTime()}
         * @throws IllegalStateException if the calling thread is not the loop's
         */
        void signalAt(long nanoTime);

        /** Removes the source: immediately if called on the loop, else soon. A second call does nothing. */
        @Override
        void close();
    }
}
