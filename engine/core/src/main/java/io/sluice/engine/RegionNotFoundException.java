package io.sluice.engine;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/** The peer has no region of that name. */
public final class RegionNotFoundException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public RegionNotFoundException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened and, where useful, what to do
     * @param cause the underlying error, or {@code null}
     */
    public RegionNotFoundException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
