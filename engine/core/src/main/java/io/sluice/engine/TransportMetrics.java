package io.sluice.engine;

import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineMetrics.Outcome;

/**
 * The metrics of one transport of an engine, read live. Counters only grow. All methods may be called from any thread
 * and cost a few reads for each poller and connection.
 */
public interface TransportMetrics {
    /** The state of a lane or rail of an open connection. */
    enum PathState {
        /** It carries transfers. */
        UP,
        /** It is being fenced and set up again. */
        HEALING,
        /** It has failed; the connection continues without it. */
        DOWN
    }

    /**
     * Returns the transport.
     *
     * @return the name, as {@link Connection#transport()} returns it
     */
    String name();

    /**
     * Returns the number of operations that ended. Each element of a vectored transfer counts. A submission to a
     * connection that has ended counts as {@link Outcome#ERROR}.
     *
     * @param operation the kind of operation
     * @param outcome how the operations ended
     * @return the count
     */
    long operations(Operation operation, Outcome outcome);

    /**
     * Returns the total length of the operations that ended. Successful operations moved that many bytes; others may
     * have moved any part of them.
     *
     * @param operation the kind of operation
     * @param outcome how the operations ended
     * @return bytes
     */
    long bytes(Operation operation, Outcome outcome);

    /**
     * Returns the number of operations that ended with {@link Outcome#ERROR} or {@link Outcome#TIMEOUT}.
     *
     * @param kind the kind of error
     * @return the count
     */
    long errors(ErrorKind kind);

    /**
     * Returns the durations of successful operations, from the submission of the transfer or the event that starts it
     * to the end of the operation.
     *
     * <p>Every transfer that a poller completes is timed. Transfers that the calling thread executes, such as small
     * ones on shm, are all counted, but of those up to 64 KiB only every 16th of a thread to one peer is timed. The
     * others count with the time of the last one that was timed, and enter the sum up to 16 transfers later, or never
     * if their thread ends first. All elements of such a vectored transfer count with the time of the whole. These
     * transfers wait for no credit, so their {@link #creditWait} is 0 and their {@link #completion} is the whole time.
     *
     * @param operation the kind of operation
     * @return a snapshot; its count is {@link #operations} with {@link Outcome#SUCCESS}, approximately while transfers
     *     run
     */
    LatencyHistogram duration(Operation operation);

    /**
     * Returns the first part of {@link #duration}: the time until the operation was posted, spent waiting for credits,
     * for operations that it must follow, or for room in the endpoint.
     *
     * @param operation the kind of operation
     * @return a snapshot
     */
    LatencyHistogram creditWait(Operation operation);

    /**
     * Returns the second part of {@link #duration}: from the first posted work request to the last completion.
     *
     * @param operation the kind of operation
     * @return a snapshot
     */
    LatencyHistogram completion(Operation operation);

    /**
     * Returns the number of bytes that the data path sent, including framing and bytes that were sent again.
     *
     * @return bytes
     */
    long wireBytesSent();

    /**
     * Returns the number of bytes that the data path received, including framing. Bytes that hardware stores without
     * this side's help are not counted.
     *
     * @return bytes
     */
    long wireBytesReceived();

    /**
     * Returns the number of work requests that endpoints accepted.
     *
     * @return the count
     */
    long chunks();

    /**
     * Returns the number of work requests posted again behind a fence.
     *
     * @return the count
     */
    long resentChunks();

    /**
     * Returns the number of fences requested because a lane failed.
     *
     * @return the count
     */
    long fences();

    /**
     * Returns the number of work requests posted and not completed.
     *
     * @return the current count
     */
    int queueDepth();

    /**
     * Returns the number of bytes that peers wrote into this engine's regions, as far as this side takes part.
     *
     * @return bytes
     */
    long servedWriteBytes();

    /**
     * Returns the number of bytes that peers read from this engine's regions, as far as this side takes part.
     *
     * @return bytes
     */
    long servedReadBytes();

    /**
     * Returns the number of peers' requests that were refused.
     *
     * @return the count
     */
    long refused();

    /**
     * Returns the number of open connections.
     *
     * @return the current count
     */
    int connections();

    /**
     * Returns the number of peers whose connection was lost recently and that have no other connection.
     *
     * @return the current count
     */
    int lostPeers();

    /**
     * Returns the number of connections established.
     *
     * @return the count
     */
    long connectionsOpened();

    /**
     * Returns the number of connections lost.
     *
     * @return the count
     */
    long connectionsLost();

    /**
     * Returns the number of connections established to a peer whose connection had been lost.
     *
     * @return the count
     */
    long connectionsReconnected();

    /**
     * Returns the number of lanes of open connections in a state.
     *
     * @param state the state
     * @return the current count
     */
    int lanes(PathState state);

    /**
     * Returns the number of rails (adapters) of open connections in a state.
     *
     * @param state the state
     * @return the current count; 0 for a transport without rails
     */
    int rails(PathState state);

    /**
     * Returns the number of heartbeat intervals without a message from the peer.
     *
     * @return the count
     */
    long heartbeatsMissed();

    /**
     * Returns the number of notifications received from peers.
     *
     * @return the count
     */
    long notificationsReceived();

    /**
     * Returns the number of notifications that the peers accept now.
     *
     * @return the count, over all open connections
     */
    long notificationCredits();

    /**
     * Returns the number of notifications that wait for credits or for earlier operations.
     *
     * @return the current count
     */
    int notificationsWaiting();
}
