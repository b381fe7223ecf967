package io.sluice.collectives;

import io.sluice.engine.SluiceException;
import java.io.Serial;

/** The ranks of a team called different collectives, or formed the team with different options. */
public final class CollectiveMismatchException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public CollectiveMismatchException(String message) {
        super(message);
    }
}
