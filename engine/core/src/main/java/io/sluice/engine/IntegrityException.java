package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * A checksum shows that bytes were changed in transit. The transfer's destination is undefined: a write's range
 * may hold anything, a put, signal or atomic operation may or may not have taken effect. The connection goes on.
 */
public final class IntegrityException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public IntegrityException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public IntegrityException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
