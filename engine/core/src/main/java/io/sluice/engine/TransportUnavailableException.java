package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A required transport cannot be used here, or the peer lacks it. */
public final class TransportUnavailableException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public TransportUnavailableException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public TransportUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
