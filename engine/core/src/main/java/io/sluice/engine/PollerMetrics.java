package io.sluice.engine;

/** The metrics of one poller, read live. Counters only grow. All methods may be called from any thread. */
public interface PollerMetrics {
    /**
     * Returns the number of the poller.
     *
     * @return the number in the engine, from 0
     */
    int index();

    /**
     * Returns the number of duty cycles that found work.
     *
     * @return the count
     */
    long busyPolls();

    /**
     * Returns the number of duty cycles that found no work.
     *
     * @return the count
     */
    long emptyPolls();

    /**
     * Returns the number of work completions.
     *
     * @return the count
     */
    long completions();

    /**
     * Returns the total time of the duty cycles that found work.
     *
     * @return nanoseconds
     */
    long busyNanos();

    /**
     * Returns the number of duty cycles that took longer than {@link EngineOptions#stallThreshold()}, mostly because a
     * callback blocked or worked too long.
     *
     * @return the count
     */
    long stalls();
}
