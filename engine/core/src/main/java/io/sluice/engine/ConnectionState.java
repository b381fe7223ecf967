package io.sluice.engine;

/** The state of a connection. States only move forward. */
public enum ConnectionState {
    /** Established; transfers run. */
    OPEN,
    /** Being shut down by either side: submitted transfers continue, and new ones are refused. */
    DRAINING,
    /** Closed by either side. */
    CLOSED,
    /** The peer was lost. */
    LOST
}
