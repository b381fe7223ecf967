package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A peer sent bytes that violate the protocol. The connection is closed. */
public final class ProtocolException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public ProtocolException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public ProtocolException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
