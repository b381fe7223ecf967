package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A transport that was asked for cannot be used here, or the peer lacks it. */
public final class TransportUnavailableException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public TransportUnavailableException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public TransportUnavailableException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
