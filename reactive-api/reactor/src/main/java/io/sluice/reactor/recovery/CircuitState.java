package io.sluice.reactor.recovery;

/** The calls that a circuit breaker lets through. */
public enum CircuitState {
    /** Everything; failures are counted. */
    CLOSED,
    /** Nothing, until its time is over. */
    OPEN,
    /** One attempt, whose fate decides. */
    HALF_OPEN
}
