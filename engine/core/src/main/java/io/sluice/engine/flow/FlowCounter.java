package io.sluice.engine.flow;

/** The counters of one transport's connections on one poller, without those of their operations. */
public enum FlowCounter {
    /** Work requests that endpoints have accepted. */
    CHUNKS,
    /** Work requests that have ended. */
    COMPLETIONS,
    /** Bytes that peers wrote here. */
    SERVED_WRITE_BYTES,
    /** Bytes that peers read here. */
    SERVED_READ_BYTES,
    /** Requests of peers that were refused. */
    REFUSED,
    /** Connections established. */
    CONNECTIONS_OPENED,
    /** Connections lost. */
    CONNECTIONS_LOST,
    /** Connections established to a peer that was lost before. */
    CONNECTIONS_RECONNECTED,
    /** Heartbeat intervals without a message from the peer. */
    HEARTBEATS_MISSED,
    /** Notifications of peers. */
    NOTIFICATIONS_RECEIVED
}
