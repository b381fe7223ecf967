package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A transfer's deadline passed before it ended. */
public final class TransferTimeoutException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public TransferTimeoutException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public TransferTimeoutException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
