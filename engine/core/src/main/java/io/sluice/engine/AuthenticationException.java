package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The peer did not prove that it may connect, or this engine could not prove it to the peer. */
public final class AuthenticationException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public AuthenticationException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public AuthenticationException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
