package io.sluice.directory;

import io.sluice.engine.SluiceException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A value in the directory is corrupt, or was written by other software or by a version that this one cannot read. */
public final class DirectoryFormatException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public DirectoryFormatException(String message) {
        super(message);
    }

    /**
     * Creates the exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the cause, or {@code null}
     */
    public DirectoryFormatException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
