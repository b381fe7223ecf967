package io.sluice.directory;

import io.sluice.engine.SluiceException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The engine that answers is not the one of the directory's entry, or has another epoch: the entry is out of date. Look
 * up the name again.
 */
public final class StaleEntryException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public StaleEntryException(String message) {
        super(message);
    }

    /**
     * Creates the exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the cause, or {@code null}
     */
    public StaleEntryException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
