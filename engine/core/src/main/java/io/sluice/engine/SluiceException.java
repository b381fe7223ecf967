package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The root of every error that the engine signals or throws. Each kind has its own type. */
public class SluiceException extends RuntimeException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public SluiceException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public SluiceException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
