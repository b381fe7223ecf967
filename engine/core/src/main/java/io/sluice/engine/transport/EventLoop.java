package io.sluice.engine.transport;

/** The thread that serves an endpoint: a poller. Unless said otherwise, methods are called on that thread. */
public interface EventLoop {
    /**
     * The time of the current duty cycle.
     *
     * @return as {@link System#nanoTime()}
     */
    long now();

    /**
     * Something was fetched, such as the contents of a socket or a batch of completions: what it completes does so now, and not
     * when the last was fetched. The loop itself begins one before each task, ready descriptor and source.
     */
    default void beginBatch() {}

    /**
     * When what is being handled was fetched; the clock is looked at once for each batch at most.
     *
     * @return as {@link System#nanoTime()}
     */
    default long batchTime() {
        return System.nanoTime();
    }

    /**
     * Watches a descriptor.
     *
     * @param descriptor of a socket or the like
     * @param handler called when the descriptor is ready
     * @return the watch
     */
    Watch watch(int descriptor, ReadinessHandler handler);

    /**
     * Polls something in each duty cycle, from the next on.
     *
     * @param source what to poll
     */
    void addSource(Source source);

    /**
     * Polls it no more.
     *
     * @param source added before
     */
    void removeSource(Source source);

    /**
     * Runs a task once at the end of this duty cycle, or of the next if none is under way.
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
     * @param deadline to arm
     * @param at when, as {@link System#nanoTime()}
     */
    void arm(Deadline deadline, long at);

    /**
     * Disarms a deadline; one that is not armed stays so.
     *
     * @param deadline to disarm
     */
    void disarm(Deadline deadline);

    /** Something that has to be looked at to find out that work has come, such as a completion queue. */
    interface Source {
        /**
         * Does what work there is, within bounds.
         *
         * @return how much there was; 0 for none
         */
        int poll();

        /**
         * The loop is about to park: from now on a watched descriptor must become ready when work comes.
         *
         * @return false if work may have come already, so that the loop does not park
         */
        boolean arm();
    }

    /** Called when a descriptor is ready. */
    @FunctionalInterface
    interface ReadinessHandler {
        /**
         * The descriptor can be read or written, or has failed (then it is both), or is likely to be readable because the handler
         * has said so ({@link Watch#expectMore()}).
         *
         * @param readable whether to read
         * @param writable whether writing makes progress; only if asked for
         */
        void ready(boolean readable, boolean writable);
    }

    /** A descriptor that is watched, at first for reading. */
    interface Watch {
        /**
         * Says what to watch for.
         *
         * @param readable call for data, or the end of the stream
         * @param writable call for room to write
         */
        void interest(boolean readable, boolean writable);

        /**
         * To be called by a handler that has read something: more is likely within microseconds. For a little while the loop may
         * then call the handler in each duty cycle, as if the descriptor could be read, without asking the kernel; so the handler
         * must bear to find nothing.
         */
        default void expectMore() {}

        /** Ends the watch; must precede the closing of the descriptor. The handler is not called any more. */
        void cancel();
    }
}
