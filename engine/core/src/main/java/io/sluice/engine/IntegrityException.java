package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A checksum shows that bytes were changed in transit. The content of the transfer's target is undefined: a range that
 * was written may hold anything, and a put, signal or atomic operation may or may not have taken effect. The connection
 * continues.
 */
public final class IntegrityException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public IntegrityException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public IntegrityException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
