package io.sluice.directory;

import io.sluice.engine.SluiceException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The directory does not answer, or not within the time that {@link DirectoryOptions} gives it. Try again later; connections and
 * transfers do not depend on it.
 */
public final class DirectoryUnavailableException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public DirectoryUnavailableException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public DirectoryUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
