package io.sluice.collectives;

/**
 * A collective that is planned once and can be started again and again. Each rank prepares its own, in the same order
 * as the others do. It has at most one run at a time.
 */
public interface PersistentCollective extends Collective, AutoCloseable {
    /**
     * Calls the collective on this rank, with the callback given when it was prepared. Allocates nothing once it has run
     * a few times.
     *
     * @throws IllegalStateException if the last run has not ended, or this is closed
     * @throws io.sluice.engine.SluiceException as for the call of a collective
     */
    void start();

    /**
     * Calls the collective on this rank, with another callback from now on.
     *
     * @param callback receives the terminal signal
     * @throws IllegalStateException if the last run has not ended, or this is closed
     * @throws io.sluice.engine.SluiceException as for the call of a collective
     */
    void start(CollectiveCallback callback);

    /** Releases what was prepared. A run that has not ended goes on. A second call does nothing. */
    @Override
    void close();
}
