package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The local region of a transfer is closed or closing. */
public final class RegionClosedException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public RegionClosedException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public RegionClosedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
