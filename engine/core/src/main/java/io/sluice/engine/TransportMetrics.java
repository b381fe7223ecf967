package io.sluice.engine;

import io.sluice.engine.EngineMetrics.Operation;
import io.sluice.engine.EngineMetrics.Outcome;

/**
 * The work of one transport of an engine, read live. Counters only grow. All methods may be called from any thread and
 * cost a few reads for each poller and connection.
 */
public interface TransportMetrics {
    /** Whether a lane or a rail of an open connection can be used. */
    enum PathState {
        /** The path carries transfers. */
        UP,
        /** The path is being fenced and set up again. */
        HEALING,
        /** The path has failed; the connection continues without it. */
        DOWN
    }

    /**
     * Which transport it is.
     *
     * @return as {@link Connection#transport()} gives it
     */
    String name();

    /**
     * Operations that ended: each element counts. A submission to a connection that has ended counts as {@link
     * Outcome#ERROR}.
     *
     * @param operation what they did
     * @param outcome how they ended
     * @return the count
     */
    long operations(Operation operation, Outcome outcome);

    /**
     * The length of the operations that ended. Those that succeeded have moved as much; the others were to, and have moved any
     * part of it.
     *
     * @param operation what they did
     * @param outcome how they ended
     * @return bytes
     */
    long bytes(Operation operation, Outcome outcome);

    /**
     * Operations that ended with {@link Outcome#ERROR} or {@link Outcome#TIMEOUT}.
     *
     * @param kind of error
     * @return the count
     */
    long errors(ErrorKind kind);

    /**
     * From the submission of a transfer, or the event that it starts after, to the end of each of its operations that succeeded.
     *
     * <p>Every transfer that a poller completes is timed. Every one that the calling thread executes itself, as small
     * ones on shm, is counted, but of those of at most 64 KiB only every 16th of a thread to one peer is timed: the
     * others count as having taken as long as the last one that was timed, and are in the sum up to 16 later, or never
     * if their thread ends before. All elements of such a vectored transfer count with the time of the whole. They wait
     * for no credit, so {@link #creditWait} is 0 for them, and {@link #completion} all of their time.
     *
     * @param operation what they did
     * @return a snapshot, whose count is {@link #operations} with {@link Outcome#SUCCESS} or, while transfers run, nearly that
     */
    LatencyHistogram duration(Operation operation);

    /**
     * The first part of {@link #duration}: until the operation was posted. It had to wait for credits, for what its order puts
     * before it, or for the endpoint's room.
     *
     * @param operation what they did
     * @return a snapshot
     */
    LatencyHistogram creditWait(Operation operation);

    /**
     * The rest of {@link #duration}: from the first work request that was posted to the last completion.
     *
     * @param operation what they did
     * @return a snapshot
     */
    LatencyHistogram completion(Operation operation);

    /**
     * Bytes that the transport's data path has sent: with its framing, and with what was sent again.
     *
     * @return bytes
     */
    long wireBytesSent();

    /**
     * Bytes that the transport's data path has received, framing included. Where the hardware stores what a peer writes this side
     * knows of no byte.
     *
     * @return bytes
     */
    long wireBytesReceived();

    /**
     * Work requests that endpoints have accepted.
     *
     * @return the count
     */
    long chunks();

    /**
     * Work requests that were posted again behind a fence.
     *
     * @return the count
     */
    long resentChunks();

    /**
     * Fences that were asked for because a lane has failed.
     *
     * @return the count
     */
    long fences();

    /**
     * Work requests that are posted and not completed.
     *
     * @return the count, now
     */
    int queueDepth();

    /**
     * Bytes that peers wrote into this engine's regions, where this side takes part.
     *
     * @return bytes
     */
    long servedWriteBytes();

    /**
     * Bytes that peers read out of this engine's regions, where this side takes part.
     *
     * @return bytes
     */
    long servedReadBytes();

    /**
     * Requests of peers that were refused.
     *
     * @return the count
     */
    long refused();

    /**
     * Open connections.
     *
     * @return the count, now
     */
    int connections();

    /**
     * Peers whose connection was lost and that have no other one now. They are forgotten a while after.
     *
     * @return the count, now
     */
    int lostPeers();

    /**
     * Connections that were established.
     *
     * @return the count
     */
    long connectionsOpened();

    /**
     * Connections that were lost.
     *
     * @return the count
     */
    long connectionsLost();

    /**
     * Connections that were established to a peer whose connection had been lost before.
     *
     * @return the count
     */
    long connectionsReconnected();

    /**
     * Lanes of open connections.
     *
     * @param state in which they are
     * @return the count, now
     */
    int lanes(PathState state);

    /**
     * Rails of open connections: adapters that they are spread over.
     *
     * @param state in which they are
     * @return the count, now; 0 for a transport without rails
     */
    int rails(PathState state);

    /**
     * Heartbeat intervals in which nothing was heard of a peer.
     *
     * @return the count
     */
    long heartbeatsMissed();

    /**
     * Notifications that peers have sent.
     *
     * @return the count
     */
    long notificationsReceived();

    /**
     * How many notifications the peers will take now.
     *
     * @return the count, over all open connections
     */
    long notificationCredits();

    /**
     * Notifications that wait for credits, or for what they come after.
     *
     * @return the count, now
     */
    int notificationsWaiting();
}
