package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** More transfers wait for the in-flight window than the option maxPending allows. Wait for some to end, or raise it. */
public final class TooManyPendingException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public TooManyPendingException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public TooManyPendingException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
