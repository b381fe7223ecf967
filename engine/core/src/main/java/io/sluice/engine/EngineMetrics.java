package io.sluice.engine;

import java.util.List;

/**
 * The metrics of an engine, read live. Counters only grow. All methods may be called from any thread and cost a few
 * reads for each poller.
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
        /** A signal on its own; a signal that a write carries counts as part of the write. */
        SIGNAL,
        /** A fetch-and-add. */
        FETCH_ADD,
        /** A compare-and-swap. */
        COMPARE_AND_SWAP
    }

    /** How an operation ended. */
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
     * Returns the name under which the engine is reported.
     *
     * @return the engine's name if it has one ({@link EngineOptions#name()}), else the first 8 digits of its identity
     */
    String engine();

    /**
     * Returns the metrics of each transport of the engine.
     *
     * @return always the same, most preferred first
     */
    List<TransportMetrics> transports();

    /**
     * Returns the metrics of each poller.
     *
     * @return always the same, at least one
     */
    List<PollerMetrics> pollers();

    /**
     * Returns the metrics of each peer with a connection now or recently. A bounded number of peers without a
     * connection is kept.
     *
     * @return in no particular order
     */
    List<PeerMetrics> peers();

    /**
     * Returns the metrics of the ports of the devices that the engine uses.
     *
     * @return the ports that keep counters; empty without such devices
     */
    List<PortMetrics> ports();

    /**
     * Returns the metrics of the devices that carry out transfers, such as GPUs.
     *
     * @return always the same; empty without such devices
     */
    default List<DeviceMetrics> devices() {
        return List.of();
    }

    /**
     * Returns the number of operations that ended, over all transports. Each element of a vectored transfer counts.
     *
     * @param operation the kind of operation
     * @param outcome how the operations ended
     * @return the count
     */
    default long operations(Operation operation, Outcome outcome) {
        return transports().stream()
                .mapToLong(transport -> transport.operations(operation, outcome))
                .sum();
    }

    /**
     * Returns the number of bytes that this engine's successful operations moved, over all transports.
     *
     * @param operation the kind of operation
     * @return bytes
     */
    default long bytes(Operation operation) {
        return transports().stream()
                .mapToLong(transport -> transport.bytes(operation, Outcome.SUCCESS))
                .sum();
    }

    /**
     * Returns the window of the engine as a whole.
     *
     * @return live figures
     */
    InFlightWindow window();

    /**
     * Returns the number of transfers submitted and not ended, over all connections.
     *
     * @return the count
     */
    int pending();

    /**
     * Returns the upper bound of {@link #pending()}, over the connections open now.
     *
     * @return the count
     */
    long pendingLimit();

    /**
     * Returns the number of submissions refused with {@link TooManyPendingException}.
     *
     * @return the count
     */
    long pendingOverflows();

    /**
     * Returns the number of sockets that peers opened and that became neither connections nor lanes.
     *
     * @param reason why
     * @return the count
     */
    long handshakesRefused(RefusalReason reason);

    /**
     * Returns the number of sockets that peers opened and that are not connections or lanes yet.
     *
     * @return 0 to {@link EngineOptions#maxHalfOpen()}
     */
    int halfOpen();

    /**
     * Returns the number of open regions.
     *
     * @return the count
     */
    int regions();

    /**
     * Returns the total length of the open regions.
     *
     * @return bytes
     */
    long regionBytes();

    /**
     * Returns how much memory the registrations of regions lock, counted once for each adapter. It counts against the
     * process's limit of locked memory ({@code ulimit -l}).
     *
     * @return bytes; 0 where no transport needs registrations
     */
    long lockedBytes();

    /**
     * Returns the process's limit of locked memory.
     *
     * @return bytes; {@link Long#MAX_VALUE} if there is none or it is unknown
     */
    long lockedBytesLimit();
}
