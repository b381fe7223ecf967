package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The event that a transfer was to start after never happened; nothing of the transfer was posted. */
public final class StartEventException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public StartEventException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public StartEventException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
