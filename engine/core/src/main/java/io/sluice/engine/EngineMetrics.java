package io.sluice.engine;

import java.util.List;

/**
 * The engine's figures, read live. Counters only grow. All methods may be called from any thread and cost a few reads for
 * each poller.
 */
public interface EngineMetrics {
    /** The kind of an operation. */
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
        /** The operation succeeded. */
        SUCCESS,
        /** The operation failed with an error other than the two below. */
        ERROR,
        /** The operation's deadline expired. */
        TIMEOUT,
        /** The initiator cancelled the operation. */
        CANCELLED
    }

    /**
     * The engine that is measured.
     *
     * @return its name if it has one ({@link EngineOptions#name()}), else the first 8 digits of its identity
     */
    String engine();

    /**
     * The transports that the engine has, each with its figures.
     *
     * @return always the same, in the order of preference
     */
    List<TransportMetrics> transports();

    /**
     * The pollers, each with its figures.
     *
     * @return always the same, at least one
     */
    List<PollerMetrics> pollers();

    /**
     * The peers that there are connections to, or were not long ago, each with its figures. A bounded number of ended ones is kept.
     *
     * @return in no order
     */
    List<PeerMetrics> peers();

    /**
     * Ports of the devices that the engine uses.
     *
     * @return those that keep counters; empty without such devices
     */
    List<PortMetrics> ports();

    /**
     * Operations that ended, over all transports: each element counts.
     *
     * @param operation what they did
     * @param outcome how they ended
     * @return the count
     */
    default long operations(Operation operation, Outcome outcome) {
        return transports().stream()
                .mapToLong(transport -> transport.operations(operation, outcome))
                .sum();
    }

    /**
     * Bytes that this engine's own successful operations moved, over all transports.
     *
     * @param operation what they did
     * @return bytes
     */
    default long bytes(Operation operation) {
        return transports().stream()
                .mapToLong(transport -> transport.bytes(operation, Outcome.SUCCESS))
                .sum();
    }

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
     * The upper bound of {@link #pending()}, over the connections open now.
     *
     * @return the count
     */
    long pendingLimit();

    /**
     * Submissions that were refused by a {@link TooManyPendingException}.
     *
     * @return the count
     */
    long pendingOverflows();

    /**
     * Sockets that peers have opened and that became neither connections nor lanes.
     *
     * @param reason why
     * @return the count
     */
    long handshakesRefused(RefusalReason reason);

    /**
     * Sockets that peers have opened and that are not connections or lanes yet.
     *
     * @return 0 to {@link EngineOptions#maxHalfOpen()}
     */
    int halfOpen();

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
     * Memory that the registrations of regions keep from being moved or swapped out, once for each adapter. It counts against
     * the process's limit of locked memory ({@code ulimit -l}).
     *
     * @return bytes; 0 where no transport needs registrations
     */
    long lockedBytes();

    /**
     * The process's limit of locked memory.
     *
     * @return bytes; {@link Long#MAX_VALUE} if there is none or it is unknown
     */
    long lockedBytesLimit();
}
