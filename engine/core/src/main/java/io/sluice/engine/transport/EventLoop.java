package io.sluice.engine.transport;

/** The thread that serves an endpoint: a poller. Unless said otherwise, methods are called on that thread. */
public interface EventLoop {
    /**
     * Returns the time of the current duty cycle.
     *
     * @return as {@link System#nanoTime()}
     */
    long now();

    /**
     * Begins a batch, such as the contents of a socket or fetched completions: requests that complete from now on have
     * the time of this batch. The loop itself begins a batch before each task, ready descriptor and source.
     */
    default void beginBatch() {}

    /**
     * Returns the time when the current batch was fetched. The clock is read at most once for each batch.
     *
     * @return as {@link System#nanoTime()}
     */
    default long batchTime() {
        return System.nanoTime();
    }

    /** Counts a connection that handles requests of its peer in the current duty cycle, at most once a cycle. */
    default void countSharer() {}

    /**
     * Returns how many connections shared the last complete duty cycle in which any was counted. They divide among them
     * what the loop handles for peers in a cycle.
     *
     * @return at least 1
     */
    default int sharers() {
        return 1;
    }

    /**
     * Watches a descriptor.
     *
     * @param descriptor a socket or another descriptor that epoll supports
     * @param handler called when the descriptor is ready
     * @return the watch
     */
    Watch watch(int descriptor, ReadinessHandler handler);

    /**
     * Polls a source in each duty cycle, beginning with the next.
     *
     * @param source the source
     */
    void addSource(Source source);

    /**
     * Removes a source.
     *
     * @param source a source that was added
     */
    void removeSource(Source source);

    /**
     * Runs a task once at the end of the current duty cycle, or of the next if none is running.
     *
     * @param task must not be added twice before it has run
     */
    void atEndOfCycle(Runnable task);

    /**
     * Runs a task on the loop's thread soon. May be called from any thread.
     *
     * @param task must not block
     */
    void execute(Runnable task);

    /**
     * Arms a deadline, or moves one that is armed.
     *
     * @param deadline the deadline
     * @param at the time, as {@link System#nanoTime()}
     */
    void arm(Deadline deadline, long at);

    /**
     * Disarms a deadline. Does nothing if it is not armed.
     *
     * @param deadline the deadline
     */
    void disarm(Deadline deadline);

    /** A source that must be polled for work, such as a completion queue. */
    interface Source {
        /**
         * Does the available work, within bounds.
         *
         * @return how much work there was; 0 for none
         */
        int poll();

        /**
         * Called before the loop parks: from now on a watched descriptor must become ready when work arrives.
         *
         * @return false if work may have arrived already, so that the loop does not park
         */
        boolean arm();
    }

    /** Called when a descriptor is ready. */
    @FunctionalInterface
    interface ReadinessHandler {
        /**
         * Called when the descriptor can be read or written, has failed (then both are true), or is likely to be
         * readable because the handler said so ({@link Watch#expectMore()}).
         *
         * @param readable whether to read
         * @param writable whether writing makes progress; only if requested
         */
        void ready(boolean readable, boolean writable);
    }

    /** A watched descriptor, initially for reading. */
    interface Watch {
        /**
         * Sets what to watch for.
         *
         * @param readable true to be called for data or the end of the stream
         * @param writable true to be called for room to write
         */
        void interest(boolean readable, boolean writable);

        /**
         * Called by a handler that has read something and expects more within microseconds. For a short while the loop
         * may then call the handler in each duty cycle as if the descriptor were readable, without asking the kernel,
         * so the handler must tolerate finding nothing.
         */
        default void expectMore() {}

        /** Ends the watch, after which the handler is not called. Must be called before the descriptor is closed. */
        void cancel();
    }
}
