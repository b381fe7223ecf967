package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The peer failed to prove that it may connect, or this engine failed to prove it to the peer. */
public final class AuthenticationException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public AuthenticationException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public AuthenticationException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
