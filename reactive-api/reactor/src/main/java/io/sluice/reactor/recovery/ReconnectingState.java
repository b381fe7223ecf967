package io.sluice.reactor.recovery;

/** The state of a {@link ReconnectingConnection}. */
public enum ReconnectingState {
    /** Not used yet. */
    IDLE,
    /** Not connected; attempts are made, with pauses. */
    CONNECTING,
    /** Connected. */
    CONNECTED,
    /** Given up after too many failures in a row; final. */
    GIVEN_UP,
    /** Closed on this side; final. */
    CLOSED
}
