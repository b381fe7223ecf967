package io.sluice.directory;

import io.sluice.engine.SluiceException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The directory does not answer within the time-out of {@link DirectoryOptions}. Retry later; connections and transfers
 * do not depend on it.
 */
public final class DirectoryUnavailableException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public DirectoryUnavailableException(String message) {
        super(message);
    }

    /**
     * Creates the exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the cause, or {@code null}
     */
    public DirectoryUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
