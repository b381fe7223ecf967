package io.sluice.directory;

import io.sluice.engine.SluiceException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The {@link Directory} was closed in this process. */
public final class DirectoryClosedException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public DirectoryClosedException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public DirectoryClosedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
