package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The connection or the engine was closed on this side. */
public final class ConnectionClosedException extends ConnectionLostException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public ConnectionClosedException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public ConnectionClosedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
