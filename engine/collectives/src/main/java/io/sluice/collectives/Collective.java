package io.sluice.collectives;

/** A collective that was called on this rank. All methods may be called from any thread. */
public interface Collective {
    /**
     * Returns the kind of the collective.
     *
     * @return the kind
     */
    CollectiveKind kind();

    /**
     * Returns the algorithm that runs.
     *
     * @return never {@link Algorithm#AUTO}
     */
    Algorithm algorithm();

    /**
     * Returns whether the terminal signal was given.
     *
     * @return true once the callback has been or is being called; for a persistent one, that of the latest run
     */
    boolean isTerminated();

    /**
     * Returns how many bytes this rank will receive from others in one run.
     *
     * @return bytes, 0 or more
     */
    long totalBytes();

    /**
     * Returns how many of {@link #totalBytes()} have arrived and are processed.
     *
     * @return bytes, of the latest run
     */
    long processedBytes();
}
