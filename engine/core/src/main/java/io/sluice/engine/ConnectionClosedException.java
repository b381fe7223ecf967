package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The connection or the engine was closed on this side. */
public final class ConnectionClosedException extends ConnectionLostException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public ConnectionClosedException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public ConnectionClosedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
