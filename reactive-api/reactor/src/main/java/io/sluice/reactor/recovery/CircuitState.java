package io.sluice.reactor.recovery;

/** The state of a circuit breaker. */
public enum CircuitState {
    /** Attempts are allowed; failures are counted. */
    CLOSED,
    /** Attempts are refused until the open time is over. */
    OPEN,
    /** One attempt is allowed, whose outcome decides. */
    HALF_OPEN
}
