package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The root of all errors that the engine signals or throws. Each kind of error has its own type. */
public class SluiceException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public SluiceException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public SluiceException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
