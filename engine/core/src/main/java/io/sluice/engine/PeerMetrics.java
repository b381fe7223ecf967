package io.sluice.engine;

/** The operations of this engine with one peer, over all connections to it, read live. Any thread. */
public interface PeerMetrics {
    /**
     * Which peer it is.
     *
     * @return the peer's identity
     */
    EngineId peer();

    /**
     * Whether a connection to it is open.
     *
     * @return false once it has ended
     */
    boolean isConnected();

    /**
     * Operations that have succeeded.
     *
     * @return the count
     */
    long operations();

    /**
     * Operations that ended with an error or by their deadline.
     *
     * @return the count
     */
    long errors();

    /**
     * Bytes of the operations that have succeeded.
     *
     * @return bytes
     */
    long bytes();

    /**
     * How long the operations that have succeeded took in sum, from submission to end.
     *
     * @return nanoseconds
     */
    long durationNanos();

    /**
     * Operations in flight.
     *
     * @return the count, now
     */
    long inFlightOperations();

    /**
     * Transfers submitted and not ended.
     *
     * @return the count, now
     */
    int pending();

    /**
     * Since something was last heard of it.
     *
     * @return nanoseconds; of the connection heard of last
     */
    long silenceNanos();
}
