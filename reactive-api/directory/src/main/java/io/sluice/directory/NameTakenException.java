package io.sluice.directory;

import io.sluice.engine.SluiceException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** Another engine, or a later publication, has this name now. */
public final class NameTakenException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public NameTakenException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public NameTakenException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
