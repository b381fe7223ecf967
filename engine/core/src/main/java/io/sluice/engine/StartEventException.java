package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The event that a transfer was to start after never happened; nothing of the transfer was posted. */
public final class StartEventException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public StartEventException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public StartEventException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
