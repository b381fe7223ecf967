package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * The connection, or the lane of an operation that must not be carried out twice, was lost after parts of it were sent and
 * before the peer acknowledged them: the target's bytes are the old ones, the new ones, or a mixture.
 */
public final class OutcomeUnknownException extends ConnectionLostException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public OutcomeUnknownException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public OutcomeUnknownException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
