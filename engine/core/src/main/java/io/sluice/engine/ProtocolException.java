package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A peer sent bytes that the protocol does not allow. The connection is closed. */
public final class ProtocolException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public ProtocolException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public ProtocolException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
