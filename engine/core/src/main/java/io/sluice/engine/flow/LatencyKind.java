package io.sluice.engine.flow;

/** The times recorded for each successful operation. */
public enum LatencyKind {
    /** From its submission to its end. */
    DURATION,
    /** From its submission until it was posted. */
    CREDIT_WAIT,
    /** From then to its end. */
    COMPLETION
}
