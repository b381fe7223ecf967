package io.sluice.collectives;

import io.sluice.engine.SluiceException;
import java.io.Serial;

/** The team was revoked, here or by another rank: none of its collectives can succeed any more. */
public final class TeamRevokedException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public TeamRevokedException(String message) {
        super(message);
    }
}
