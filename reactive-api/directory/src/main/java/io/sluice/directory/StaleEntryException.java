package io.sluice.directory;

import io.sluice.engine.SluiceException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The engine that answers is not the one, or not the run, that the directory named: the entry was out of date. Look the name
 * up again.
 */
public final class StaleEntryException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public StaleEntryException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public StaleEntryException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
