package io.sluice.collectives;

import io.sluice.engine.SluiceException;
import java.io.Serial;

/** A collective did not end on this rank within its time. */
public final class CollectiveTimeoutException extends SluiceException {
    @Serial
    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what happened and, where useful, what to do
     */
    public CollectiveTimeoutException(String message) {
        super(message);
    }
}
