package io.sluice.engine;

/**
 * The engine's figures, read live. Counters only grow. All methods may be called from any thread and cost a few reads for
 * each poller.
 */
public interface EngineMetrics {
    /** What a transfer does. */
    enum Operation {
        /** A write, or an element of a vectored one, or a put. */
        WRITE,
        /** A read, or an element of a vectored one. */
        READ,
        /** A notification. */
        NOTIFY,
        /** A signal by itself; one that a write carries counts as that write. */
        SIGNAL,
        /** A fetch-and-add. */
        FETCH_ADD,
        /** A compare-and-swap. */
        COMPARE_AND_SWAP
    }

    /** How a transfer ended. */
    enum Outcome {
        /** With success. */
        SUCCESS,
        /** With an error other than the two below. */
        ERROR,
        /** By its deadline. */
        TIMEOUT,
        /** By its initiator. */
        CANCELLED
    }

    /**
     * Operations that ended: each element counts.
     *
     * @param operation what they did
     * @param outcome how they ended
     * @return the count
     */
    long operations(Operation operation, Outcome outcome);

    /**
     * Bytes that this engine's own successful operations moved.
     *
     * @param operation what they did
     * @return bytes
     */
    long bytes(Operation operation);

    /**
     * Bytes that peers wrote into this engine's regions, acknowledged.
     *
     * @return bytes
     */
    long servedWriteBytes();

    /**
     * Bytes that peers read out of this engine's regions.
     *
     * @return bytes
     */
    long servedReadBytes();

    /**
     * Frames of peers that were refused.
     *
     * @return the count
     */
    long refused();

    /**
     * The credits of the engine as a whole.
     *
     * @return live figures
     */
    InFlightWindow window();

    /**
     * Transfers submitted and not ended, over all connections.
     *
     * @return the count
     */
    int pending();

    /**
     * Connections open now.
     *
     * @return the count
     */
    int connections();

    /**
     * Connections that were lost.
     *
     * @return the count
     */
    long connectionsLost();

    /**
     * Regions open now.
     *
     * @return the count
     */
    int regions();

    /**
     * Bytes of the regions open now.
     *
     * @return bytes
     */
    long regionBytes();

    /**
     * How many pollers the engine has.
     *
     * @return at least 1
     */
    int pollers();

    /**
     * Duty cycles of the pollers that found work.
     *
     * @return the count
     */
    long busyPolls();

    /**
     * Duty cycles of the pollers that found none.
     *
     * @return the count
     */
    long emptyPolls();

    /**
     * Memory that the registrations of regions keep from being moved or swapped out, once for each adapter. It counts against
     * the process's limit of locked memory ({@code ulimit -l}).
     *
     * @return bytes; 0 where no transport needs registrations
     */
    long lockedBytes();

    /**
     * Duty cycles that took longer than {@link EngineOptions#stallThreshold()}: a callback blocked or worked too long.
     *
     * @return the count
     */
    long stalls();
}
