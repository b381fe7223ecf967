package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** A descriptor names a region that is closed, or an earlier run of the peer's engine. Ask the peer for a new one. */
public final class StaleDescriptorException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public StaleDescriptorException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public StaleDescriptorException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
