package io.sluice.engine;

/** The life of a connection. It only ever moves forward. */
public enum ConnectionState {
    /** Both sides agreed; transfers run. */
    OPEN,
    /** Being shut down by either side: what was submitted runs on, and nothing new is taken. */
    DRAINING,
    /** Closed by either side, in order. */
    CLOSED,
    /** The peer was lost. */
    LOST
}
