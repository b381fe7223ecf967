package io.sluice.engine;

/**
 * The metrics of this engine's operations with one peer, over all connections to it, read live. All methods may be
 * called from any thread.
 */
public interface PeerMetrics {
    /**
     * Returns the peer.
     *
     * @return the peer's identity
     */
    EngineId peer();

    /**
     * Returns whether a connection to the peer is open.
     *
     * @return false once the last connection has ended
     */
    boolean isConnected();

    /**
     * Returns the number of operations that succeeded.
     *
     * @return the count
     */
    long operations();

    /**
     * Returns the number of operations that ended with an error or by their deadline.
     *
     * @return the count
     */
    long errors();

    /**
     * Returns the number of bytes of the operations that succeeded.
     *
     * @return bytes
     */
    long bytes();

    /**
     * Returns the total time of the operations that succeeded, from submission to end.
     *
     * @return nanoseconds
     */
    long durationNanos();

    /**
     * Returns the number of operations in flight.
     *
     * @return the current count
     */
    long inFlightOperations();

    /**
     * Returns the number of transfers submitted and not ended.
     *
     * @return the current count
     */
    int pending();

    /**
     * Returns the time since the last message from the peer.
     *
     * @return nanoseconds, on the connection with the most recent message
     */
    long silenceNanos();
}
