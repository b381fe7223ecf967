package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** Memory could not be allocated or registered. */
public final class RegistrationException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public RegistrationException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public RegistrationException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
