package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** No connection could be made: the address does not answer, refuses, or speaks another protocol. */
public sealed class ConnectFailedException extends SluiceException permits LimitExceededException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public ConnectFailedException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public ConnectFailedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
