package io.sluice.engine;

/** The work of one poller, read live. Counters only grow. Any thread. */
public interface PollerMetrics {
    /**
     * Which poller it is.
     *
     * @return its number in the engine, from 0
     */
    int index();

    /**
     * Duty cycles that found work.
     *
     * @return the count
     */
    long busyPolls();

    /**
     * Duty cycles that found none.
     *
     * @return the count
     */
    long emptyPolls();

    /**
     * Work completions.
     *
     * @return the count
     */
    long completions();

    /**
     * How long the duty cycles with work took.
     *
     * @return nanoseconds
     */
    long busyNanos();

    /**
     * Duty cycles that took longer than {@link EngineOptions#stallThreshold()}: a callback blocked or worked too long.
     *
     * @return the count
     */
    long stalls();
}
