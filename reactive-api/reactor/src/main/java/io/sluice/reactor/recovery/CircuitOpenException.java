package io.sluice.reactor.recovery;

import java.io.Serial;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The peer has failed so often that no attempts are made for a while. Nothing was submitted. */
public final class CircuitOpenException extends NotConnectedException {
    @Serial
    private static final long serialVersionUID = 1L;

    /** How long the circuit stays open. */
    private final Duration remaining;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     * @param remaining how long the circuit stays open
     * @param cause the failure that opened it, or {@code null}
     */
    public CircuitOpenException(String message, Duration remaining, @Nullable Throwable cause) {
        super(message, cause);
        this.remaining = remaining;
    }

    /**
     * Returns how long to wait before trying again.
     *
     * @return how long the circuit stays open, counted from the creation of this exception
     */
    public Duration remaining() {
        return remaining;
    }
}
