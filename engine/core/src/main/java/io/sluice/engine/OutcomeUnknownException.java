package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The connection, or the lane of an operation that must not be executed twice, was lost after parts of the operation
 * were sent and before the peer acknowledged them. The target's bytes are the old ones, the new ones, or a mixture.
 */
public final class OutcomeUnknownException extends ConnectionLostException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public OutcomeUnknownException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public OutcomeUnknownException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
