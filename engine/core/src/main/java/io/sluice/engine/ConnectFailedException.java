package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A connection could not be made: the address does not answer, refuses, or speaks another protocol. */
public sealed class ConnectFailedException extends SluiceException permits LimitExceededException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public ConnectFailedException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public ConnectFailedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
