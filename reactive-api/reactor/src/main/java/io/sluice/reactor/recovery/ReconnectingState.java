package io.sluice.reactor.recovery;

/** Where a {@link ReconnectingConnection} stands. */
public enum ReconnectingState {
    /** Not used yet. */
    IDLE,
    /** There is no connection; attempts are made, with pauses. */
    CONNECTING,
    /** There is one. */
    CONNECTED,
    /** There were too many failures in a row; it stays so. */
    GIVEN_UP,
    /** Closed on this side; it stays so. */
    CLOSED
}
