package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** More transfers are pending than the option {@code maxPending} allows. Wait for some to end, or raise the limit. */
public final class TooManyPendingException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public TooManyPendingException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public TooManyPendingException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
