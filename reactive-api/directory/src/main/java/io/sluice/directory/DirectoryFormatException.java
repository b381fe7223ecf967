package io.sluice.directory;

import io.sluice.engine.SluiceException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A value in the directory is damaged, or was written by other software or by a version that this one cannot read. */
public final class DirectoryFormatException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public DirectoryFormatException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public DirectoryFormatException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
