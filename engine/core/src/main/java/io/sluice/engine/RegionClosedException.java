package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The local region of a transfer is closed or closing. */
public final class RegionClosedException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Makes one.
     *
     * @param message what happened, and where it helps what to do
     */
    public RegionClosedException(String message) {
        super(message);
    }

    /**
     * Makes one with its cause.
     *
     * @param message what happened, and where it helps what to do
     * @param cause what led to it, or {@code null}
     */
    public RegionClosedException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
