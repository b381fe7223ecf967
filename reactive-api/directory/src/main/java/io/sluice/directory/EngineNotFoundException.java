package io.sluice.directory;

import io.sluice.engine.SluiceException;
import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The directory has no live engine of this name. */
public final class EngineNotFoundException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates the exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public EngineNotFoundException(String message) {
        super(message);
    }

    /**
     * Creates the exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the cause, or {@code null}
     */
    public EngineNotFoundException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
