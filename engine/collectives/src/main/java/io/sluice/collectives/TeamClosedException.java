package io.sluice.collectives;

import io.sluice.engine.SluiceException;
import java.io.Serial;

/** The team was closed on this rank. */
public final class TeamClosedException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public TeamClosedException(String message) {
        super(message);
    }
}
